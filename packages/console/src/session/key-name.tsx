import { shortId } from "../ui/values/copy.tsx";
import { useSession } from "./session.ts";

/**
 * Draws the name of a key if this browser is signed in with the key. Otherwise draws the key's id, because a project knows only the ids of
 * other keys.
 */
export function KeyName({ id }: { id: string }) {
  const name = useSession()?.seats.find(({ keyId }) => keyId === id)?.keyName ?? "";
  return name === "" ? <code title={id}>{shortId(id)}</code> : <span title={id}>“{name}”</span>;
}
