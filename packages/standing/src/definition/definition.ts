import type { JsonSchema } from "@svc/catalog";
import type { OverlapPolicy } from "@svc/db/schema/words";
import type { Expression, GivenTemplate, JsonObject } from "@svc/program";
import type { Poll } from "../poll/definition.ts";
import type { Schedule } from "../schedule/schedule.ts";

/** What is done with a run that is over a rate or a budget: it waits, or it is left out. */
export type WhenOver = "queue" | "skip";

/** How runs of the same key keep out of each other's way. */
export type Overlap = {
  readonly policy: OverlapPolicy;
  /** Runs of a key at once. */
  readonly max: number;
  /** Runs of a key that wait at most. */
  readonly queueMax: number;
  /** How long a run waits at most. */
  readonly queueForMs: number;
  /** Undefined: the whole program shares one key. */
  readonly key: GivenTemplate | undefined;
};

/** How many runs of the same key start in a time. */
export type StartRate = {
  readonly max: number;
  readonly perMs: number;
  readonly whenOver: WhenOver;
  readonly key: GivenTemplate | undefined;
};

/** Which occurrences are the same one: a key that was seen within the window makes no other run. */
export type Dedupe = { readonly key: GivenTemplate; readonly windowMs: number };

/** How events of the same key become one run. */
export type Collect = {
  /** The window closes when it had no event for so long; undefined: it does not wait for that. */
  readonly quietMs: number | undefined;
  /** It closes so long after its first event. */
  readonly waitMs: number;
  /** It closes with so many events; undefined: with any number. */
  readonly max: number | undefined;
  /** Whether all of them are handed over, or the last alone. */
  readonly take: "all" | "last";
  readonly key: GivenTemplate | undefined;
};

/** What runs may use on a day; undefined: as much as they like. */
export type Budget = {
  readonly runs: number | undefined;
  readonly toolCalls: number | undefined;
  readonly writes: number | undefined;
  readonly whenOver: WhenOver;
};

/** What starts a standing program by itself. */
export type ProgramSource =
  | { readonly kind: "schedule"; readonly schedule: Schedule }
  | {
      readonly kind: "trigger";
      readonly slug: string;
      /** Undefined: events of any account. */
      readonly entity: string | undefined;
    }
  | { readonly kind: "poll"; readonly poll: Poll };

/** A definition that was read. */
export type Definition = {
  readonly title: string;
  /** Of local times and of the budget's days. */
  readonly timeZone: string;
  readonly source: ProgramSource;
  /** What an occurrence must be to make a run; undefined: every one does. */
  readonly when: Expression | undefined;
  readonly input: GivenTemplate | undefined;
  readonly dedupe: Dedupe | undefined;
  readonly collect: Collect | undefined;
  readonly rate: StartRate | undefined;
  readonly budget: Budget | undefined;
  readonly overlap: Overlap;
  /** What happens where tools that it uses change; undefined: it follows, or pauses where its plan needs approval. */
  readonly drift: "follow" | "pause" | undefined;
  /** Ends in a row that pause it; 0 for never. */
  readonly pauseAfter: number;
  /** The program as JSON text. */
  readonly programJson: string;
};

/** What the templates of a definition are filled in with. */
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

/** What each of them is, as a JSON Schema. `known`: what events of the source carry, or what its rows are, where that is known. */
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
