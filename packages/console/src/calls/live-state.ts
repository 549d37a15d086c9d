import { useSyncExternalStore } from "react";

/**
 * State of the project's stream of changes. `isOpen`: true if it is open. `pausedBy`: number of other streams for which it is paused
 * (closed to make room).
 */
type LiveState = { isOpen: boolean; pausedBy: number };

let state: LiveState = { isOpen: false, pausedBy: 0 };
const listeners = new Set<() => void>();

function change(to: Partial<LiveState>): void {
  state = { ...state, ...to };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Records that the stream of the project's changes is open (`isOpen`), or that it is closed. While it is closed, lists poll. */
export function setStreamOpen(isOpen: boolean): void {
  if (state.isOpen !== isOpen) change({ isOpen });
}

/**
 * Closes the project's stream to make room for another stream. Returns a function that ends the pause. Calling the returned function more
 * than once is harmless.
 */
export function pauseStream(): () => void {
  change({ pausedBy: state.pausedBy + 1 });
  let isOver = false;
  return () => {
    if (!isOver) change({ pausedBy: state.pausedBy - 1 });
    isOver = true;
  };
}

/** Returns true if the project's stream is closed because another stream is open in its place. Returns false otherwise. */
export function useStreamPaused(): boolean {
  return useSyncExternalStore(subscribe, () => state.pausedBy > 0);
}

/** Interval at which a list polls if no stream reports changes, in milliseconds. */
const lookMs = 5_000;

/**
 * Returns the interval in milliseconds at which a list reads its rows again. Returns false if the project's stream reports the list's
 * changes. `method`: the call that reads the list.
 */
export function useLookMs(method: { name: string; parent: { typeName: string } }): number | false {
  const isOpen = useSyncExternalStore(subscribe, () => state.isOpen);
  return isOpen && toldMethods.has(`${method.parent.typeName}/${method.name}`) ? false : lookMs;
}

/** For each kind of change in a project: the API methods that the console calls again after such a change. */
export const methodsOfKind: Readonly<Record<number, readonly string[]>> = {
  // Only the names: each page loads the message types that it needs.
  1: ["svc.v1.TriggersService/ListEvents", "svc.v1.StatsService/GetStart"],
  2: [
    "svc.v1.TriggersService/ListDeliveries",
    "svc.v1.TriggersService/GetDelivery",
    "svc.v1.TriggersService/ListDeliveryAttempts",
    "svc.v1.TriggersService/GetSubscription",
    // This list shows the state of each event's deliveries. So when a delivery changes, the list is read again.
    "svc.v1.TriggersService/ListEvents",
  ],
  3: ["svc.v1.ToolsService/ListToolCalls", "svc.v1.ToolsService/GetToolCall", "svc.v1.StatsService/GetStart"],
  4: ["svc.v1.JobsService/ListJobs", "svc.v1.JobsService/GetJob", "svc.v1.StatsService/GetStart"],
  5: ["svc.v1.JobsService/ListAsks", "svc.v1.JobsService/GetAsk", "svc.v1.StatsService/GetBacklog"],
};

const toldMethods = new Set(Object.values(methodsOfKind).flat());

/**
 * Maximum number of open streams in all tabs and windows of a browser. A browser opens six connections to a service, and calls need the
 * other three.
 */
const streamsMax = 3;

/**
 * Runs `run` if the browser has a free slot for a stream, and frees the slot when `run` has ended. If all slots are taken, returns false.
 * The browser's locks count the slots; they exist only with https, so on plain http `run` always runs.
 */
export async function inStreamPlace(run: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
  const locks = (navigator as { locks?: LockManager }).locks;
  if (locks === undefined) {
    await run();
    return true;
  }
  for (let place = 0; place < streamsMax && !signal.aborted; place += 1) {
    const wasFree = await locks.request(`svc-stream-${place}`, { ifAvailable: true }, async (lock) => {
      if (lock !== null) await run();
      return lock !== null;
    });
    if (wasFree) return true;
  }
  return false;
}
