import { shortId } from "../ui/values/copy.tsx";
import { useSession } from "./session.ts";

/** A key, by its name if this browser is signed in with it. A project gets only the id of other keys. */
export function KeyName({ id }: { id: string }) {
  const name = useSession()?.seats.find(({ keyId }) => keyId === id)?.keyName ?? "";
  return name === "" ? <code title={id}>{shortId(id)}</code> : <span title={id}>“{name}”</span>;
}
