import { consoleBase } from "./base.ts";
import { currentSession, type Seat, setSession } from "./session.ts";
import { setSignInNeeded } from "./sign-in-need.ts";

let underWay: Promise<void> | undefined;

/**
 * Asks which seats the session has by now: a key may have been revoked, renamed or given another role. Where the session has ended, the
 * sign-in opens over the page, and what is kept here stays until somebody signs in. One at a time; never rejects.
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
    // Somebody may have signed out or in meanwhile: that is newer.
    if (currentSession() === before) setSession({ half, seats });
  } catch {
    // No answer: the band says so, and the next call that is refused asks again.
  }
}
