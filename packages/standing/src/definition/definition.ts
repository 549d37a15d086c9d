import type { JsonSchema } from "@svc/catalog";
import type { OverlapPolicy } from "@svc/db/schema/words";
import type { Expression, GivenTemplate, JsonObject } from "@svc/program";
import type { Poll } from "../poll/definition.ts";
import type { Schedule } from "../schedule/schedule.ts";

/** Handling of a run that exceeds a rate or a budget: it waits or is skipped. */
export type WhenOver = "queue" | "skip";

/** How runs with the same concurrency key overlap. */
export type Overlap = {
  readonly policy: OverlapPolicy;
  /** Maximum started runs of a key. */
  readonly max: number;
  /** Maximum waiting runs of a key. */
  readonly queueMax: number;
  /** Maximum waiting time of a run, in milliseconds. */
  readonly queueForMs: number;
  /** Undefined if the whole program shares one key. */
  readonly key: GivenTemplate | undefined;
};

/** Maximum starts of runs with the same key in a time. */
export type StartRate = {
  readonly max: number;
  readonly perMs: number;
  readonly whenOver: WhenOver;
  readonly key: GivenTemplate | undefined;
};

/** Duplicate occurrences: a key that is known within the window makes no other run. */
export type Dedupe = { readonly key: GivenTemplate; readonly windowMs: number };

/** How events with the same key become one run. */
export type Collect = {
  /** The window closes if no event came for this time, in milliseconds; undefined if that does not close it. */
  readonly quietMs: number | undefined;
  /** The window closes this time after its first event, in milliseconds. */
  readonly waitMs: number;
  /** Maximum events of the window; undefined for no maximum. */
  readonly max: number | undefined;
  /** The events that the run gets. */
  readonly take: "all" | "last";
  readonly key: GivenTemplate | undefined;
};

/** Maximum use of runs on a day; undefined for no maximum. */
export type Budget = {
  readonly runs: number | undefined;
  readonly toolCalls: number | undefined;
  readonly writes: number | undefined;
  readonly whenOver: WhenOver;
};

/** The source whose occurrences start a standing program. */
export type ProgramSource =
  | { readonly kind: "schedule"; readonly schedule: Schedule }
  | {
      readonly kind: "trigger";
      readonly slug: string;
      /** Undefined for events of any account. */
      readonly entity: string | undefined;
    }
  | { readonly kind: "poll"; readonly poll: Poll };

/** A parsed definition. */
export type Definition = {
  readonly title: string;
  /** Time zone of local times and of the budget's days. */
  readonly timeZone: string;
  readonly source: ProgramSource;
  /** Condition of a run; undefined if every occurrence makes one. */
  readonly when: Expression | undefined;
  readonly input: GivenTemplate | undefined;
  readonly dedupe: Dedupe | undefined;
  readonly collect: Collect | undefined;
  readonly rate: StartRate | undefined;
  readonly budget: Budget | undefined;
  readonly overlap: Overlap;
  /** Reaction to changed tools; undefined to follow them, or to pause if the plan needs approval. */
  readonly drift: "follow" | "pause" | undefined;
  /** Failures in a row after which svc pauses the program; 0 for never. */
  readonly pauseAfter: number;
  /** JSON text of the program. */
  readonly programJson: string;
};

/** Values that fill in the templates of a definition, by name. */
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

/** Returns the JSON Schema of these values. `known`: the schema of the source's event payloads or rows, if it is known. */
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
