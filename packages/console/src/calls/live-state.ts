import { useSyncExternalStore } from "react";

/** True if the stream of notices is open, and how many other streams pause it. */
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

/** Records whether the stream of the project's changes is open. */
export function setStreamOpen(isOpen: boolean): void {
  if (state.isOpen !== isOpen) change({ isOpen });
}

/**
 * Closes the project's stream to make room for another stream, until the returned function is called. Calling it more than once is
 * harmless.
 */
export function pauseStream(): () => void {
  change({ pausedBy: state.pausedBy + 1 });
  let isOver = false;
  return () => {
    if (!isOver) change({ pausedBy: state.pausedBy - 1 });
    isOver = true;
  };
}

/** True if another stream is open in place of the project's. */
export function useStreamPaused(): boolean {
  return useSyncExternalStore(subscribe, () => state.pausedBy > 0);
}

/** Interval at which a list polls if no stream reports changes, in milliseconds. */
const lookMs = 5_000;

/** Returns the interval at which a list polls, or false if the stream reports its changes. `method` is its call, with its service. */
export function useLookMs(method: { name: string; parent: { typeName: string } }): number | false {
  const isOpen = useSyncExternalStore(subscribe, () => state.isOpen);
  return isOpen && toldMethods.has(`${method.parent.typeName}/${method.name}`) ? false : lookMs;
}

/** The calls to repeat for each kind of notice, by the kind's number. Only names, because the messages load with their pages. */
export const methodsOfKind: Readonly<Record<number, readonly string[]>> = {
  1: ["svc.v1.TriggersService/ListEvents"],
  2: [
    "svc.v1.TriggersService/ListDeliveries",
    "svc.v1.TriggersService/GetDelivery",
    "svc.v1.TriggersService/ListDeliveryAttempts",
    "svc.v1.TriggersService/GetSubscription",
    // Its rows show the state of each event's deliveries.
    "svc.v1.TriggersService/ListEvents",
  ],
  3: ["svc.v1.ToolsService/ListToolCalls", "svc.v1.ToolsService/GetToolCall"],
  4: ["svc.v1.JobsService/ListJobs", "svc.v1.JobsService/GetJob"],
  5: ["svc.v1.JobsService/ListAsks", "svc.v1.JobsService/GetAsk", "svc.v1.StatsService/GetBacklog"],
};

const toldMethods = new Set(Object.values(methodsOfKind).flat());

/**
 * Maximum number of open streams over all tabs and windows of a browser. A browser has six connections to a service, and calls need the
 * rest.
 */
const streamsMax = 3;

/**
 * Runs `run` in one of the browser's slots for streams and frees the slot when `run` settles. If all slots are taken, it does not run and
 * returns false. Without https there are no locks to count by, and it always runs.
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
