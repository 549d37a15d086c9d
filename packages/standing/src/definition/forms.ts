import type { JsonSchema } from "@svc/catalog";
import { durationSchema, type ObjectForm, schemaOf, wholeSchema } from "@svc/program";

/** Minimum time between two occurrences of a schedule, in milliseconds. */
const intervalMinMs = 60_000;
/** Maximum entries of a schedule's `at`. */
export const timesMax = 100;
/** Maximum cron expressions of a schedule. */
export const expressionsMax = 10;

const day = 86_400_000;
/** Bounds of the numbers and durations in a definition. Durations are in milliseconds. */
export const bounds = {
  every: { min: intervalMinMs, max: 366 * day },
  jitter: { min: 1_000, max: 3_600_000 },
  window: { min: 10_000, max: 30 * day },
  last: { min: 1, max: 100 },
  step: { min: 1, max: 1_000_000_000 },
  dedupeWindow: { min: 1_000, max: 30 * day },
  quiet: { min: 1_000, max: 3_600_000 },
  wait: { min: 1_000, max: day },
  collectMax: { min: 1, max: 1_000 },
  rateMax: { min: 1, max: 10_000 },
  ratePer: { min: 1_000, max: 30 * day },
  budget: { min: 1, max: 1_000_000_000 },
  overlapMax: { min: 1, max: 100 },
  queueMax: { min: 1, max: 10_000 },
  queueFor: { min: 1_000, max: 30 * day },
  pauseAfter: { min: 0, max: 1_000 },
} as const;

const template: JsonSchema = {
  description:
    'A value of what is given: {"$ref": "fire.at"}, {"$ref": "event.payload.id"}, {"$text": "{fire.localDate}"}, or a value as it stands.',
};
const key: JsonSchema = { description: "What shares it: a text of what is given. Without it the whole program does." };
const whenOver: JsonSchema = {
  enum: ["queue", "skip"],
  description: "Whether a run that is over it waits or is left out.",
};

/** `catchUp`. */
export const catchUpForm: ObjectForm = {
  description: "What is done about occurrences that were missed while the service was away.",
  required: {},
  optional: {
    window: durationSchema("How late an occurrence may be; what is later is left out. Default 1d.", "1d"),
    runs: { enum: ["none", "last", "all"], description: "Which of them are made up for. Default last." },
  },
  examples: [{ window: "1d", runs: "last" }],
};

/** `schedule`. */
export const scheduleForm: ObjectForm = {
  description: "The times at which it is due: by exactly one of cron, every and at.",
  required: {},
  optional: {
    cron: {
      description: "Expressions of five fields, with names, L, W, # and +, in the definition's time zone; their union.",
      type: "array",
      minItems: 1,
      maxItems: expressionsMax,
      items: { type: "string", maxLength: 200 },
      examples: [["0 9 * * 1-5"]],
    },
    every: durationSchema("Time that passes from startAt, else from the epoch: no wall clock.", "15m"),
    at: {
      description: "Instants.",
      type: "array",
      minItems: 1,
      maxItems: timesMax,
      items: { type: "string", format: "date-time" },
      examples: [["2027-01-01T00:00:00Z"]],
    },
    startAt: { description: "Nothing is due before.", type: "string", format: "date-time" },
    endAt: { description: "Nothing is due from then on.", type: "string", format: "date-time" },
    jitter: durationSchema("Each occurrence waits for a part of it, always the same one.", "2m"),
    catchUp: schemaOf(catchUpForm),
  },
  examples: [{ cron: ["0 9 * * 1-5"], jitter: "2m" }],
};

/** `trigger`. */
export const triggerForm: ObjectForm = {
  description: "Each event of a trigger starts it.",
  required: { slug: { description: "The trigger.", type: "string", examples: ["calendar.events_changed"] } },
  optional: { entity: { description: "Only events about the account of this entity.", type: "string" } },
  examples: [{ slug: "calendar.events_changed" }],
};

/** `first`, if it is an object. */
export const firstForm: ObjectForm = {
  description: "The last rows of the list.",
  required: { last: wholeSchema("How many.", bounds.last, 10) },
  optional: {},
  examples: [{ last: 10 }],
};

const pathSchema = (description: string, example: string): JsonSchema => {
  return { description, type: "string", minLength: 1, maxLength: 512, examples: [example] };
};

/** `cursor`. */
export const cursorForm: ObjectForm = {
  description: "Where a poll goes on, in place of what the tool declares.",
  required: { kind: { enum: ["seen", "after", "newest", "token"], description: "Its kind." } },
  optional: {
    arg: pathSchema("Of after and token: the argument that takes the bound, or the token.", "since"),
    from: pathSchema(
      "Of after: the path in a row of what the bound is made of; without it the time of the poll is. Of token: the path of the next token in the answer.",
      "created_at",
    ),
    overlap: durationSchema("Of after: how far before the bound is looked for late rows; 7 days at most.", "10m"),
    step: wholeSchema("Of after, where from is a number that no two rows have: what is added to it.", bounds.step, 1),
    more: pathSchema("Of token: the path of the boolean in the answer that is false when nothing is left.", "has_more"),
    args: { description: "Of newest: arguments that sort the newest rows first.", type: "object", minProperties: 1 },
  },
  examples: [{ kind: "seen" }, { kind: "after", arg: "since", from: "created_at", overlap: "10m" }],
};

/** `poll`. */
export const pollForm: ObjectForm = {
  description: "New rows of a list that a tool reads start it.",
  required: {
    call: { description: "The tool, of class read.", type: "string", examples: ["sales_crm.list_deals"] },
    entity: { description: "Whose account of the app is read.", type: "string", examples: ["ops"] },
    every: durationSchema("How often, a minute at least.", "5m"),
  },
  optional: {
    args: { description: "Its arguments, the same each time.", type: "object", examples: [{ status: "open" }] },
    first: {
      description: "What the first poll finds: nothing (default), all, or the last rows.",
      anyOf: [{ enum: ["skip", "all"] }, schemaOf(firstForm)],
    },
    on: { enum: ["new", "changed"], description: "changed: also rows whose kept fields differ. Default new." },
    per: { enum: ["poll", "row"], description: "row: each row makes a run. Default poll: a run gets all of a poll." },
    keep: {
      description: "Fields of a row that runs get, and that are compared. Default all that the tool's output has.",
      type: "array",
      minItems: 1,
      maxItems: 100,
      items: { type: "string" },
      examples: [["id", "title"]],
    },
    rows: pathSchema("Path of the list in the answer, ending in []. Default as the tool declares.", "items[]"),
    id: pathSchema("Path in a row of what names it. Default as the tool declares.", "id"),
    size: pathSchema("Of a list of one page: the argument that says how many rows it answers.", "limit"),
    cursor: schemaOf(cursorForm),
  },
  examples: [{ call: "sales_crm.list_deals", entity: "ops", every: "5m" }],
};

/** `source`. */
export const sourceForm: ObjectForm = {
  description: "What starts it: exactly one of schedule, trigger and poll.",
  required: {},
  optional: { schedule: schemaOf(scheduleForm), trigger: schemaOf(triggerForm), poll: schemaOf(pollForm) },
  examples: [{ schedule: { every: "15m" } }, { trigger: { slug: "calendar.events_changed" } }],
};

const condition: JsonSchema = {
  description:
    "A CEL expression over fire, event or row, and params, under the rules of program expressions: what it turns away makes no run.",
  type: "string",
  minLength: 1,
  examples: ["event.payload.amount > params.min"],
};

/** `dedupe`. */
export const dedupeForm: ObjectForm = {
  description: "What is the same occurrence again: a key that was seen within the window makes no other run.",
  required: { key: { description: 'A text of what is given: {"$ref": "event.payload.id"}.' } },
  optional: { window: durationSchema("How long a key is remembered. Default 24h.", "24h") },
  examples: [{ key: { $ref: "event.payload.id" }, window: "24h" }],
};

/** `collect`. */
export const collectForm: ObjectForm = {
  description:
    "Events of a key become one run: a window closes after quiet without an event, wait since its first, max events or 256 KiB.",
  required: {},
  optional: {
    quiet: durationSchema("It closes when no event came for so long.", "30s"),
    wait: durationSchema("It closes so long after its first event. Default 24h.", "10m"),
    max: wholeSchema("It closes with so many events. Default 1,000 of all.", bounds.collectMax, 100),
    take: {
      enum: ["all", "last"],
      description: "all: events has each of them. last: the last one alone, as a debounce. Default all.",
    },
    key,
  },
  examples: [{ quiet: "30s", wait: "10m", take: "all" }],
};

/** `rate`. */
export const rateForm: ObjectForm = {
  description: "How many runs start in a time.",
  required: {
    max: wholeSchema("Runs.", bounds.rateMax, 10),
    per: durationSchema("In this time.", "1m"),
  },
  optional: { whenOver, key },
  examples: [{ max: 10, per: "1m" }],
};

/** `budget`. */
export const budgetForm: ObjectForm = {
  description:
    "What runs may use on a day of the time zone. Calls and writes count when their job ends: a day may overshoot by those that run.",
  required: {},
  optional: {
    runs: wholeSchema("Runs.", bounds.budget, 200),
    toolCalls: wholeSchema("Tool calls.", bounds.budget, 20_000),
    writes: wholeSchema("Calls that write.", bounds.budget, 500),
    whenOver,
  },
  examples: [{ runs: 200, writes: 500 }],
};

/** `overlap`. */
export const overlapForm: ObjectForm = {
  description: "What happens where a run is due while others are under way.",
  required: {
    policy: {
      enum: ["skip", "queueOne", "queueAll", "cancelRunning", "allow"],
      description:
        "skip leaves it out; queueOne lets the newest wait; queueAll lets all wait; cancelRunning ends the others first; allow starts it.",
    },
  },
  optional: {
    max: wholeSchema("Runs at once. Default 1; of allow 100.", bounds.overlapMax, 1),
    queueMax: wholeSchema("Runs that wait at most. Default 1,000.", bounds.queueMax, 1_000),
    queueFor: durationSchema("How long a run waits at most. Default 24h.", "24h"),
    key,
  },
  examples: [{ policy: "queueAll" }],
};

/** A whole definition. */
export const definitionForm: ObjectForm = {
  description: "A standing program, version 1: a program that the service starts by itself.",
  required: {
    version: { const: 1 },
    source: schemaOf(sourceForm),
    program: { description: "The program, as SubmitJob takes it.", type: "object" },
  },
  optional: {
    title: { description: "What it is for, in up to 200 characters.", type: "string", maxLength: 200 },
    timeZone: { description: "A name of the IANA database. Default UTC.", type: "string", examples: ["Europe/Berlin"] },
    when: condition,
    input: { ...template, description: `The input of each run. ${template.description}` },
    dedupe: schemaOf(dedupeForm),
    collect: schemaOf(collectForm),
    rate: schemaOf(rateForm),
    budget: schemaOf(budgetForm),
    overlap: schemaOf(overlapForm),
    drift: {
      enum: ["follow", "pause"],
      description:
        "What happens where tools that it uses change: follow them where it has no faults by that, or pause. Default follow; pause where the plan needs approval.",
    },
    pauseAfter: wholeSchema(
      "Jobs in a row that fail or expire, and starts that are refused, until it pauses. Default 10; 0 for never.",
      bounds.pauseAfter,
      10,
    ),
  },
  examples: [
    {
      version: 1,
      source: { schedule: { cron: ["0 9 * * 1-5"] } },
      program: {
        version: 1,
        steps: [{ id: "fetch", call: "sales_crm.list_deals", entity: "ops", args: { status: "open" } }],
      },
    },
  ],
};

/** The JSON Schema of definitions, as svc serves it. */
export const standingSchema: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  ...schemaOf(definitionForm),
};
