import type { Event } from "@svc/db/events/repo";
import {
  type Following,
  newestAfter,
  positionOfNow,
  readEventPage,
  type ServedPosition,
  servedPosition,
} from "./page.ts";
import type { CursorScope, EventPosition } from "./position.ts";

/** A poll that svc answered. */
export type EventPollObservation = {
  /** `unheld`: the poll wanted to wait, but this node held as many polls as it can. */
  readonly outcome: "events" | "empty" | "truncated" | "unheld";
  /** Number of events that svc scanned for the poll. */
  readonly scanned: number;
};

/** A request for the events after a position. */
export type EventPoll = {
  readonly position: EventPosition;
  /** Maximum number of events to return. */
  readonly max: number;
  /** Longest time to wait if there is no event, in milliseconds. */
  readonly waitMs: number;
  /** Oldest event to return, in milliseconds before now. Undefined: any age. */
  readonly maxAgeMs?: number | undefined;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called when the poll begins to wait. If it throws, the poll rejects with its error. */
  readonly onHeld?: (() => void) | undefined;
};

/** Events, oldest first, and the position after them. */
export type PolledEvents = {
  readonly events: readonly Event[];
  readonly position: EventPosition;
  /** True if the next poll can return more events at once. */
  readonly hasMore: boolean;
  /** True if events after the previous position may be missing. */
  readonly truncated: boolean;
  /** False if the poll wanted to wait and was answered at once, because this node holds too many polls. */
  readonly isHeld: boolean;
};

/** Answers polls of events, and holds them until there are events. */
export type EventPolls = {
  /** Returns the current position. */
  now(scope: CursorScope): Promise<EventPosition>;
  /** Returns the position from which svc can serve a reader. See `servedPosition`. */
  served(scope: CursorScope, position: EventPosition, maxAgeMs: number | undefined): Promise<ServedPosition>;
  /** Returns the newest events after a position. See `newestAfter`. */
  newest(scope: CursorScope, position: EventPosition, max: number): ReturnType<typeof newestAfter>;
  poll(scope: CursorScope, poll: EventPoll): Promise<PolledEvents>;
};

/** Longest time for which a poll is held, in milliseconds. It is well below the limit for an HTTP exchange. */
export const heldMsMax = 25_000;
/** Pause between two looks while a poll is held, in milliseconds. */
const lookMs = 1_000;
/** Maximum number of polls that a node holds. Further polls are answered at once, even without events. */
const heldMax = 200;

/** Creates the polls of a node. They share the limit of held polls. */
export function createEventPolls(
  following: Following & { readonly onPolled?: ((poll: EventPollObservation) => void) | undefined },
): EventPolls {
  const { clock, onPolled } = following;
  let held = 0;
  /** Returns the first page with events. If no event arrives in time, returns the last, empty page. */
  const firstPage = async (
    scope: CursorScope,
    { position, max, waitMs, signal, onHeld }: EventPoll,
    isFinal: boolean,
  ) => {
    const untilMs = clock.now() + waitMs;
    let scanned = 0;
    let isHeld = false;
    try {
      for (let at = position; ; ) {
        const page = await readEventPage(following, scope, at, max);
        scanned += page.scanned;
        const leftMs = untilMs - clock.now();
        const isUnheld = !isHeld && held >= heldMax;
        const isDone = page.events.length > 0 || isFinal || leftMs <= 0 || signal.aborted;
        if (isDone || isUnheld) return { ...page, scanned, isHeld: waitMs > 0 && (isDone || !isUnheld) };
        if (!isHeld) {
          onHeld?.();
          isHeld = true;
          held++;
        }
        at = page.position;
        if (!page.hasMore) await clock.wait(Math.min(lookMs, leftMs), signal);
      }
    } finally {
      if (isHeld) held--;
    }
  };
  return {
    now: (scope) => positionOfNow(following, scope),
    served: (scope, position, maxAgeMs) => servedPosition(following, scope, position, maxAgeMs),
    newest: (scope, position, max) => newestAfter(following, scope, position, max),
    async poll(scope, poll) {
      const { position, truncated } = await servedPosition(following, scope, poll.position, poll.maxAgeMs);
      const { scanned, ...page } = await firstPage(scope, { ...poll, position }, truncated);
      const outcome = truncated ? "truncated" : page.events.length > 0 ? "events" : "empty";
      onPolled?.({ outcome: outcome === "empty" && poll.waitMs > 0 && !page.isHeld ? "unheld" : outcome, scanned });
      return { ...page, truncated };
    },
  };
}
