import { useEffect, useState, useSyncExternalStore } from "react";

/** The time now, in milliseconds since 1970. The only reading of the clock in the console. */
function now(): number {
  return Date.now();
}

const tickMs = 1_000;
const listeners = new Set<() => void>();
let shown = now();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  shown = now();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    shown = now();
    timer = setInterval(tick, tickMs);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time now, read anew once in `everyMs` (1,000 or a multiple): one timer for whatever shows times. */
export function useNow(everyMs: number = tickMs): number {
  return useSyncExternalStore(subscribe, () => shown - (shown % everyMs));
}

/** A value as it last stood still for `ms`: what is typed is not asked about at every key. Values are compared as they are. */
export function useSettled<Value extends string | undefined>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
