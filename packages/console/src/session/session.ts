import { useSyncExternalStore } from "react";

/** A seat: a key that this browser is signed in with. The browser stores the id of the key, not its text. */
export type Seat = {
  keyId: string;
  keyName: string;
  /** Id of the project in which the user is signed in. Empty if the user is signed in as administrator. */
  projectId: string;
  projectName: string;
  role: "viewer" | "reader" | "member" | "approver" | "admin";
};

/**
 * The part of a session that scripts can read (`half`), and the keys that this browser is signed in with (`seats`). The other part is a
 * cookie that scripts cannot read. The service needs both parts.
 */
export type Session = { half: string; seats: readonly Seat[] };

const storedAs = "svc-session";
const listeners = new Set<() => void>();
let current: Session | undefined = readStored();

function readStored(): Session | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storedAs) ?? "null");
    return isSession(stored) ? stored : undefined;
  } catch {
    // The browser's storage is not available, or it has data of another version of the console. In both cases no user is signed in.
    return undefined;
  }
}

function isSession(value: unknown): value is Session {
  return (
    typeof value === "object" && value !== null && "half" in value && "seats" in value && Array.isArray(value.seats)
  );
}

/** Returns the session of this browser; undefined if no user is signed in. */
export function currentSession(): Session | undefined {
  return current;
}

/** Replaces the session in this tab and in the other tabs of the browser. */
export function setSession(session: Session | undefined): void {
  current = session;
  try {
    if (session === undefined) localStorage.removeItem(storedAs);
    else localStorage.setItem(storedAs, JSON.stringify(session));
  } catch {
    // The browser's storage is not available, so the session lasts only while the page is open.
  }
  for (const listener of listeners) listener();
}

/** Returns the key with which this browser is signed in to a project (its seat). For `"admin"`, returns the administrator's seat. */
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

/** Returns the session of this browser, and updates the component when the session changes. */
export function useSession(): Session | undefined {
  return useSyncExternalStore(subscribe, () => current);
}
