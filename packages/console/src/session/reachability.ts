import { useSyncExternalStore } from "react";

/** The part that is unavailable: the whole service, or the database behind a service that reports it. */
export type Away = "service" | "store";

let away: Away | undefined;
const listeners = new Set<() => void>();

/** Records which part did not answer the last call; undefined if it was answered. */
export function setAway(value: Away | undefined): void {
  if (away === value) return;
  away = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls `act` whenever calls are answered again. Returns a function that stops this. */
export function whenBack(act: () => void): () => void {
  return subscribe(() => {
    if (away === undefined) act();
  });
}

/** The part that did not answer the last call, if any. In that case the page shows older data. */
export function useAway(): Away | undefined {
  return useSyncExternalStore(subscribe, () => away);
}
