import {
  createBatcher,
  createSlices,
  isJsonObject,
  isoTime,
  type JsonObject,
  type JsonValue,
  LeastRecentlyUsed,
  type SubscriptionId,
  type Turns,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { addFilterFaults } from "@svc/db/subscriptions/filters";
import {
  type CompiledFilter,
  compileFilter,
  type FilteredEvent,
  type FilterOutcome,
  filterPayloadBytes,
} from "@svc/program";
import { parsePayload } from "../own/payload.ts";
import { eventsToolkitSlug } from "../own/toolkit.ts";

/** An event to which filters are applied. Times in epoch milliseconds. */
export type FilterableEvent = {
  readonly id: string;
  readonly toolkitSlug: string;
  readonly triggerSlug: string;
  readonly entityId: string;
  readonly occurredAtMs: number;
  readonly receivedAtMs: number;
  /** JSON text of the payload. */
  readonly payload: string;
};

/** Results of filters for one event. The key is the text of the filter. */
export type FilterOutcomes = ReadonlyMap<string, FilterOutcome>;

/** The filters that were applied to one event. `seconds`: the time this took. */
export type FilterObservation = {
  readonly outcomes: Iterable<FilterOutcome>;
  readonly seconds: number;
};

/**
 * Applies the filters of subscriptions to events. The result of a filter depends only on the event, so it is the same at every time and on
 * every node.
 */
export type Filters = {
  /**
   * True if the filter reads the id or the time of receipt of an event. Such a filter can be applied only when these values are known,
   * directly before the event is stored. False if the filter reads only other data.
   */
  readsReceipt(filter: string): boolean;
  /**
   * Returns a function that applies filters to one event and returns the outcome of each filter. `line`: name of the queue in which this
   * work waits for its turn.
   */
  begin(line: string): (event: FilterableEvent, filters: Iterable<string>) => Promise<FilterOutcomes>;
  /**
   * Adds to the stored count of a subscription's events for which its filter could not be evaluated, for example because a field was
   * absent. A count is lost if the process ends before it is stored.
   */
  countFaults(counts: ReadonlyMap<SubscriptionId, number>): void;
  /** Resolves when all counts that were passed to `countFaults` are stored. */
  idle(): Promise<void>;
};

/** Maximum number of compiled filters that a node keeps. */
const compiledMax = 10_000;
/** Maximum number of subscriptions whose filter faults wait to be counted in the database. Faults of more subscriptions are not counted. */
const waitingMax = 10_000;

/** Creates the object that applies the filters of subscriptions to events on one node. */
export function createFilters({
  db,
  turns,
  onFiltered,
}: {
  readonly db: Executor;
  readonly turns: Pick<Turns, "next">;
  readonly onFiltered?: ((observation: FilterObservation) => void) | undefined;
}): Filters {
  const compiled = new LeastRecentlyUsed<string, CompiledFilter>(compiledMax);
  const compile = (source: string): CompiledFilter => {
    const known = compiled.get(source);
    if (known !== undefined) return known;
    const made = compileFilter(source);
    compiled.set(source, made);
    return made;
  };
  const faults = createBatcher<{ readonly id: SubscriptionId; readonly count: number }, void>({
    sizeMax: waitingMax,
    concurrency: 1,
    waitingMax,
    async run(counted) {
      const counts = new Map<SubscriptionId, number>();
      for (const { id, count } of counted) counts.set(id, (counts.get(id) ?? 0) + count);
      await addFilterFaults(db, counts);
      return counted.map(() => undefined);
    },
  });
  return {
    countFaults(counts) {
      // The counts only inform people. A count that cannot be stored (the database is down, or too many wait) must not fail the event.
      for (const [id, count] of counts) faults.add({ id, count }).catch(() => {});
    },
    idle: () => faults.idle(),
    readsReceipt: (filter) => compile(filter).readsReceipt,
    begin(line) {
      const slices = createSlices(() => turns.next(line));
      return async (event, filters) => {
        const startedMs = performance.now();
        let waitedMs = 0;
        const rest = async (wait: Promise<void> | undefined) => {
          if (wait === undefined) return;
          const fromMs = performance.now();
          await wait;
          waitedMs += performance.now() - fromMs;
        };
        const outcomes = new Map<string, FilterOutcome>();
        const filtered = await filteredEvent(event, () => rest(slices.turn()));
        const isLarge = event.payload.length > filterPayloadBytes;
        for (const filter of filters) {
          if (!outcomes.has(filter)) outcomes.set(filter, compile(filter).test(filtered, isLarge));
          // A filter may take a whole slice for a large payload.
          await rest(isLarge ? slices.turn() : slices.rest());
        }
        onFiltered?.({ outcomes: outcomes.values(), seconds: (performance.now() - startedMs - waitedMs) / 1_000 });
        return outcomes;
      };
    },
  };
}

/** Returns an event as filters see it. `turn`: lets other work run between the parts of a long payload. */
export async function filteredEvent(event: FilterableEvent, turn: () => Promise<void>): Promise<FilteredEvent> {
  const { id, toolkitSlug, triggerSlug, entityId, occurredAtMs, receivedAtMs } = event;
  const payload = await payloadOf(event.payload, turn);
  return {
    ...{ id, toolkitSlug, triggerSlug, type: typeOfTrigger(toolkitSlug, triggerSlug), entityId },
    occurredAt: isoTime(occurredAtMs),
    receivedAt: isoTime(receivedAtMs),
    payload,
  };
}

async function payloadOf(text: string, turn: () => Promise<void>): Promise<JsonObject> {
  const value = (await parsePayload(text, turn)) as JsonValue;
  // The payload of some triggers is a list or a scalar; no field of it exists for filters.
  return isJsonObject(value) ? value : {};
}

/** Returns the type of an event: the name of the project's own type, or the trigger's slug for events of apps. */
function typeOfTrigger(toolkitSlug: string, triggerSlug: string): string {
  return toolkitSlug === eventsToolkitSlug ? triggerSlug.slice(eventsToolkitSlug.length + 1) : triggerSlug;
}
