import { useSyncExternalStore } from "react";

/** A key that this browser is signed in with, by its id. The browser does not store the text of the key. */
export type Seat = {
  keyId: string;
  keyName: string;
  /** Empty for the administrator's seat. */
  projectId: string;
  projectName: string;
  role: "member" | "approver" | "admin";
};

/** The browser's half of the session. The other half is a cookie that scripts cannot read. */
export type Session = { half: string; seats: readonly Seat[] };

const storedAs = "svc-session";
const listeners = new Set<() => void>();
let current: Session | undefined = readStored();

function readStored(): Session | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storedAs) ?? "null");
    return isSession(stored) ? stored : undefined;
  } catch {
    // Storage may be off, or hold the data of another version: in both cases no user is signed in.
    return undefined;
  }
}

function isSession(value: unknown): value is Session {
  return (
    typeof value === "object" && value !== null && "half" in value && "seats" in value && Array.isArray(value.seats)
  );
}

/** The session of this browser; undefined if no user is signed in. */
export function currentSession(): Session | undefined {
  return current;
}

/** Replaces the session in this tab and in the browser's other tabs. */
export function setSession(session: Session | undefined): void {
  current = session;
  try {
    if (session === undefined) localStorage.removeItem(storedAs);
    else localStorage.setItem(storedAs, JSON.stringify(session));
  } catch {
    // Without storage the session lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

/** Returns the seat for a project; that of the administrator for `"admin"`. */
export function seatFor(session: Session | undefined, projectId: string): Seat | undefined {
  return session?.seats.find((seat) => (projectId === "admin" ? seat.role === "admin" : seat.projectId === projectId));
}

function subscribe(listener: () => void): () => void {
  const changedElsewhere = (event: StorageEvent) => {
    if (event.key !== storedAs) return;
    current = readStored();
    listener();
  };
  listeners.add(listener);
  window.addEventListener("storage", changedElsewhere);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", changedElsewhere);
  };
}

/** The session of this browser, kept current. */
export function useSession(): Session | undefined {
  return useSyncExternalStore(subscribe, () => current);
}
