import { useSyncExternalStore } from "react";

/** What did not answer the last call: nobody at all, or the store behind a service that says so. */
export type Away = "service" | "store";

let away: Away | undefined;
const listeners = new Set<() => void>();

/** Notes what did not answer the last call; undefined where it was answered. */
export function setAway(value: Away | undefined): void {
  if (away === value) return;
  away = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls `act` each time calls are answered again. Returns what ends it. */
export function whenBack(act: () => void): () => void {
  return subscribe(() => {
    if (away === undefined) act();
  });
}

/** What did not answer the last call, if anything. While it does not, what is shown is from before. */
export function useAway(): Away | undefined {
  return useSyncExternalStore(subscribe, () => away);
}
