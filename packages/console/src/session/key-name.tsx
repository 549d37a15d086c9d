import { shortId } from "../ui/values/copy.tsx";
import { useSession } from "./session.ts";

/** A key, by its name if this browser is signed in with the key. For other keys, a project knows only the id. */
export function KeyName({ id }: { id: string }) {
  const name = useSession()?.seats.find(({ keyId }) => keyId === id)?.keyName ?? "";
  return name === "" ? <code title={id}>{shortId(id)}</code> : <span title={id}>“{name}”</span>;
}
