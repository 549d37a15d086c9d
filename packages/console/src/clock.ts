import { useEffect, useState, useSyncExternalStore } from "react";

/** Returns the current time in milliseconds since 1970. The console reads the clock only here. */
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

/** Returns the current time, updated every `everyMs` milliseconds (1,000 or a multiple). All components that show times share one timer. */
export function useNow(everyMs: number = tickMs): number {
  return useSyncExternalStore(subscribe, () => shown - (shown % everyMs));
}

/** Returns true as soon as `ms` milliseconds have passed since the component was first drawn. */
export function usePassed(ms: number): boolean {
  const [hasPassed, setPassed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return hasPassed;
}

/**
 * Returns the latest value that stayed the same for `ms` milliseconds; until then, the value before it. With it, a text field does not
 * cause a call at each key that the user presses.
 */
export function useSettled<Value extends string | undefined>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** Interval at which bars of running steps grow, in milliseconds. */
const growMs = 100;

/** Returns the current time, updated ten times a second while `isOn` is true. While it is false, the time of the last update. */
export function useFastNow(isOn: boolean): number {
  const [at, setAt] = useState(now);
  useEffect(() => {
    if (!isOn) return;
    setAt(now());
    const growing = setInterval(() => setAt(now()), growMs);
    return () => clearInterval(growing);
  }, [isOn]);
  return at;
}
