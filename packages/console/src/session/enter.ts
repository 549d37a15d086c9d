import { consoleBase } from "./base.ts";
import { currentSession, type Seat, setSession } from "./session.ts";

/** What a sign-in came to: undefined when it went well, else what was wrong and what would be right. */
export type Refusal = { message: string; help: string };

/** Signs in by a key, or by the token of a link that `npm start` or `npx svc console` printed. Other seats of the session stay. */
export async function enter(credential: { key: string } | { link: string }): Promise<Refusal | undefined> {
  const half = currentSession()?.half;
  let response: Response;
  try {
    response = await fetch(new URL("session", consoleBase), {
      method: "POST",
      headers: { "content-type": "application/json", ...(half !== undefined && { "svc-session": half }) },
      body: JSON.stringify(credential),
    });
  } catch {
    return { message: "The service cannot be reached.", help: "See whether it runs, then try again." };
  }
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) return refusalOf(answer, response.status);
  const { half: given, seats } = answer as { half: string; seats: Seat[] };
  setSession({ half: given, seats });
  return undefined;
}

function refusalOf(answer: unknown, status: number): Refusal {
  const { message, details } = (answer ?? {}) as { message?: string; details?: { debug?: { help?: string } }[] };
  return { message: message ?? `The service answered ${status}.`, help: details?.[0]?.debug?.help ?? "" };
}

/** Ends the session on the service and forgets it here. */
export async function leave(): Promise<void> {
  const half = currentSession()?.half;
  setSession(undefined);
  if (half === undefined) return;
  await fetch(new URL("session", consoleBase), { method: "DELETE", headers: { "svc-session": half } }).catch(
    () => undefined,
  );
}
