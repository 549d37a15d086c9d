import { useSyncExternalStore } from "react";

let reachable = true;
const listeners = new Set<() => void>();

/** Notes whether the service answered the last call at all. */
export function setReachable(value: boolean): void {
  if (reachable === value) return;
  reachable = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether the service answered the last call. While it does not, what is shown is from before. */
export function useReachable(): boolean {
  return useSyncExternalStore(subscribe, () => reachable);
}
