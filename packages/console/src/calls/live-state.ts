import { useSyncExternalStore } from "react";

/** Whether the stream of notices is open, and for whom it stands aside. */
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

/** Notes whether the stream of what is new in the project is open. */
export function setStreamOpen(isOpen: boolean): void {
  if (state.isOpen !== isOpen) change({ isOpen });
}

/** Closes the stream of the project until what is answered is called, once or more often: for another stream in its place. */
export function pauseStream(): () => void {
  change({ pausedBy: state.pausedBy + 1 });
  let isOver = false;
  return () => {
    if (!isOver) change({ pausedBy: state.pausedBy - 1 });
    isOver = true;
  };
}

/** Whether another stream is open in place of the project's. */
export function useStreamPaused(): boolean {
  return useSyncExternalStore(subscribe, () => state.pausedBy > 0);
}

/** So often a list looks for what is new where nobody tells it. */
const lookMs = 5_000;

/** How often a list looks for what is new: not at all while the stream tells of it. `method` is its call, with its service. */
export function useLookMs(method: { name: string; parent: { typeName: string } }): number | false {
  const isOpen = useSyncExternalStore(subscribe, () => state.isOpen);
  return isOpen && toldMethods.has(`${method.parent.typeName}/${method.name}`) ? false : lookMs;
}

/** What is to be read again for each kind of notice, by the kind's number. Names alone: their messages load with their pages. */
export const methodsOfKind: Readonly<Record<number, readonly string[]>> = {
  1: ["svc.v1.TriggersService/ListEvents"],
  2: [
    "svc.v1.TriggersService/ListDeliveries",
    "svc.v1.TriggersService/GetDelivery",
    "svc.v1.TriggersService/ListDeliveryAttempts",
    "svc.v1.TriggersService/GetSubscription",
    // Its rows say how the deliveries of each event stand.
    "svc.v1.TriggersService/ListEvents",
  ],
  3: ["svc.v1.ToolsService/ListToolCalls", "svc.v1.ToolsService/GetToolCall"],
  4: ["svc.v1.JobsService/ListJobs", "svc.v1.JobsService/GetJob"],
  5: ["svc.v1.JobsService/ListAsks", "svc.v1.JobsService/GetAsk", "svc.v1.StatsService/GetBacklog"],
};

const toldMethods = new Set(Object.values(methodsOfKind).flat());

/** So many streams are open at once, over all tabs and windows of a browser: it has six connections to a service, and calls need the others. */
const streamsMax = 3;

/**
 * Runs in one of the browser's places for streams, which is free again when `run` has settled; where all are taken, not at all, and answers
 * false. Off https there are no locks to count by, and it runs.
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
