import { consoleBase } from "./base.ts";
import { currentSession, type Seat, setSession } from "./session.ts";
import { setSignInNeeded } from "./sign-in-need.ts";

let underWay: Promise<void> | undefined;

/**
 * Reads the current seats (signed-in keys) of the session, because a key may have been revoked, renamed or given another role. If the
 * session has ended, the sign-in opens over the page, and stored data stays until a user signs in. Only one read runs at a time. Never
 * rejects.
 */
export function refreshSeats(): Promise<void> {
  underWay ??= readSeats().finally(() => {
    underWay = undefined;
  });
  return underWay;
}

async function readSeats(): Promise<void> {
  const before = currentSession();
  if (before === undefined) return;
  try {
    const response = await fetch(new URL("session", consoleBase), {
      method: "POST",
      headers: { "content-type": "application/json", "svc-session": before.half },
      body: "{}",
    });
    if (response.status === 401) setSignInNeeded(true);
    if (!response.ok) return;
    const { half, seats } = (await response.json()) as { half: string; seats: Seat[] };
    // The user may have signed in or out while this request was running. The browser's session is then newer than the session in the
    // answer. So the answer is used only if the session did not change.
    if (currentSession() === before) setSession({ half, seats });
  } catch {
    // The service did not answer. The message at the top of the page says so, and the next refused call starts another read.
  }
}
