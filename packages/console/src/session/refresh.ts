import { consoleBase } from "./base.ts";
import { currentSession, type Seat, setSession } from "./session.ts";
import { setSignInNeeded } from "./sign-in-need.ts";

let underWay: Promise<void> | undefined;

/**
 * Reads the session's seats (signed-in keys) again, because keys may have changed. If the session has ended, opens the sign-in over the
 * page. Only one read runs at a time. Never rejects.
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
