import { forgetKept } from "./kept-names.ts";
import { type PageRefusal, postPage } from "./page-post.ts";
import { currentSession, type Seat, setSession } from "./session.ts";

/**
 * Signs this browser in with a key, or with a link that `npm start` or `npx svc console` printed. Other signed-in keys stay. With `half`,
 * opens the session that a sign-in with a company account made. Returns the error; undefined on success.
 */
export async function enter(
  credential: { key: string } | { link: string } | { half: string },
): Promise<PageRefusal | undefined> {
  const isOpen = "half" in credential;
  const headers = isOpen ? { "svc-session": credential.half } : halfHeaders();
  const sent = await postPage("session", isOpen ? {} : credential, { headers });
  if ("refusal" in sent) return sent.refusal;
  const { half, seats } = sent.answer as { half: string; seats: Seat[] };
  setSession({ half, seats });
  return undefined;
}

/**
 * Ends the session on the service and removes it from the browser. Also removes the user's input and searches, because the next user may be
 * another person. Then reloads the page, because the open page still holds such data. A person with a company account also signs out
 * there.
 */
export async function leave(): Promise<void> {
  const headers = halfHeaders();
  setSession(undefined);
  const sent = "svc-session" in headers ? await postPage("session", {}, { method: "DELETE", headers }) : {};
  forgetKept();
  const { signOutUrl } = ("answer" in sent ? sent.answer : {}) as { signOutUrl?: string };
  if (signOutUrl === undefined) location.reload();
  else location.assign(signOutUrl);
}

/**
 * Removes one seat (a signed-in key) from the session. `keyId`: the id of the key, or `admin`. Other seats stay. The session ends with its
 * last seat. Returns the refusal, if any.
 */
export async function giveUpSeat(keyId: string): Promise<PageRefusal | undefined> {
  const session = currentSession();
  const sent = await postPage("session", { seat: keyId }, { method: "DELETE", headers: halfHeaders() });
  if ("refusal" in sent) return sent.refusal;
  const seats = session?.seats.filter((seat) => seat.keyId !== keyId) ?? [];
  const isLast = session === undefined || seats.length === 0;
  setSession(isLast ? undefined : { ...session, seats });
  if (isLast) {
    forgetKept();
    location.reload();
  }
  return undefined;
}

function halfHeaders(): Record<string, string> {
  const half = currentSession()?.half;
  return half === undefined ? {} : { "svc-session": half };
}
