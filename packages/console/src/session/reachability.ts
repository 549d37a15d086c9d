import { useSyncExternalStore } from "react";

/**
 * The part of the system that is unavailable. `service`: the service does not answer. `store`: the service answers that its database is
 * unavailable.
 */
export type Away = "service" | "store";

let away: Away | undefined;
const listeners = new Set<() => void>();

/**
 * Records the result of the last call. `value`: the unavailable part (the service or its database). Undefined if the service answered the
 * call.
 */
export function setAway(value: Away | undefined): void {
  if (away === value) return;
  away = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls `act` each time the service answers again after it was unavailable. Returns a function that stops these calls. */
export function whenBack(act: () => void): () => void {
  return subscribe(() => {
    if (away === undefined) act();
  });
}

/**
 * Returns `service` or `store` (the database) if that was unavailable at the last call. The page then shows older data. Returns undefined
 * if the last call was answered.
 */
export function useAway(): Away | undefined {
  return useSyncExternalStore(subscribe, () => away);
}
