import type { JsonSchema } from "@svc/catalog";
import type { OverlapPolicy } from "@svc/db/schema/words";
import type { Expression, GivenTemplate, JsonObject } from "@svc/program";
import type { Poll } from "../poll/definition.ts";
import type { Schedule } from "../schedule/schedule.ts";

/**
 * Handling of a run if its schedule has reached the maximum number of starts in a time (the rate) or the maximum for a day (the budget).
 * The run waits (`queue`) or is skipped.
 */
export type WhenOver = "queue" | "skip";

/** How many runs with the same concurrency key may run or wait at the same time. */
export type Overlap = {
  readonly policy: OverlapPolicy;
  /** Maximum number of started runs with the same concurrency key. */
  readonly max: number;
  /** Maximum number of runs with the same concurrency key that may wait at the same time. */
  readonly queueMax: number;
  /** Maximum waiting time of a run, in milliseconds. */
  readonly queueForMs: number;
  /**
   * Template from which the concurrency key of a run is computed, for example from a field of the event. Undefined means that all runs of
   * the schedule share one key.
   */
  readonly key: GivenTemplate | undefined;
};

/** A rate: at most `max` starts with the same key in the time `perMs`, in milliseconds. */
export type StartRate = {
  readonly max: number;
  readonly perMs: number;
  readonly whenOver: WhenOver;
  readonly key: GivenTemplate | undefined;
};

/**
 * Rule that finds duplicates, for example of events. If another event with the same key came within the last `windowMs` milliseconds, the
 * new event starts no run.
 */
export type Dedupe = { readonly key: GivenTemplate; readonly windowMs: number };

/** How several events with the same key are combined into one run. */
export type Collect = {
  /**
   * Pause without new events after which svc stops collecting events for a run, in milliseconds. If undefined, a pause does not end the
   * collecting.
   */
  readonly quietMs: number | undefined;
  /** Maximum time in milliseconds for which events are collected into one run, counted from the first event. */
  readonly waitMs: number;
  /** Number of events at which the window (in which events are collected for one run) closes. Undefined means no limit. */
  readonly max: number | undefined;
  /** The events that the run receives: all events that were collected, or only the last one. */
  readonly take: "all" | "last";
  readonly key: GivenTemplate | undefined;
};

/** Maximum use per day by all runs of a program together. An undefined field means no limit. */
export type Budget = {
  readonly runs: number | undefined;
  readonly toolCalls: number | undefined;
  readonly writes: number | undefined;
  readonly whenOver: WhenOver;
};

/** The cause of the runs of a standing program: a schedule, the events of a trigger, or new rows of a polled list. */
export type ProgramSource =
  | { readonly kind: "schedule"; readonly schedule: Schedule }
  | {
      readonly kind: "trigger";
      readonly slug: string;
      /** The entity (customer or user) whose events start the program. Undefined if events of any entity do. */
      readonly entity: string | undefined;
    }
  | { readonly kind: "poll"; readonly poll: Poll };

/** The parsed definition of a standing program (a program that starts jobs by itself). */
export type Definition = {
  readonly title: string;
  /** Time zone in which local times are interpreted and the days of the daily budget begin. */
  readonly timeZone: string;
  readonly source: ProgramSource;
  /** Condition that a due time, event or polled row must meet to start a run. Undefined means that each of them starts a run. */
  readonly when: Expression | undefined;
  readonly input: GivenTemplate | undefined;
  readonly dedupe: Dedupe | undefined;
  readonly collect: Collect | undefined;
  readonly rate: StartRate | undefined;
  readonly budget: Budget | undefined;
  readonly overlap: Overlap;
  /**
   * Reaction to changed tools: `follow` uses the new definitions of the tools, `pause` pauses the program. Undefined means `pause` if
   * people must approve the program, and otherwise `follow`.
   */
  readonly drift: "follow" | "pause" | undefined;
  /** Number of runs in a row that must fail before svc pauses the program. 0 means that svc never pauses it for this reason. */
  readonly pauseAfter: number;
  /** JSON text of the program. */
  readonly programJson: string;
};

/** Values that the templates of a schedule's definition can use, by name (for example `fire` and `event`). */
export type TemplateValues = JsonObject;

const text = { type: "string" } as const;

const fireType = {
  type: "object",
  properties: {
    at: text,
    localDate: text,
    localTime: text,
    timeZone: text,
    kind: { type: "string", enum: ["schedule", "event", "poll", "hand"] },
    missed: { type: "integer" },
    previousAt: text,
  },
  required: ["at", "localDate", "localTime", "timeZone", "kind", "missed"],
} as const;

/**
 * Returns the JSON Schema of the values that the templates of a schedule may use, for example `fire` (the time of the run) and `event`.
 * `known`: schema of the events or polled rows, if it is known.
 */
export function givenTypeOf(source: ProgramSource | undefined, known: JsonSchema | undefined): JsonSchema {
  if (source?.kind === "poll") return givenTypeOfPoll(source.poll, known ?? {});
  if (source?.kind !== "trigger") return { type: "object", properties: { fire: fireType }, required: ["fire"] };
  const event = {
    type: "object",
    properties: {
      ...{ id: text, triggerSlug: text, entityId: text, occurredAt: text, receivedAt: text },
      payload: known ?? {},
    },
    required: ["id", "triggerSlug", "entityId", "occurredAt", "receivedAt", "payload"],
  };
  return {
    type: "object",
    properties: { fire: fireType, event, events: { type: "array", items: event } },
    required: ["fire", "event", "events"],
  };
}

function givenTypeOfPoll({ per }: Poll, row: JsonSchema): JsonSchema {
  const rows = { type: "array", items: row };
  const properties = { fire: fireType, rows, ...(per === "row" && { row }) };
  return { type: "object", properties, required: Object.keys(properties) };
}
