import type { JsonSchema } from "@svc/catalog";
import { durationSchema, type ObjectForm, schemaOf, wholeSchema } from "@svc/program";

/** Minimum time between two occurrences of a schedule, in milliseconds. */
const intervalMinMs = 60_000;
/** Maximum number of times in the field `at` of a schedule, which lists single times. */
export const timesMax = 100;
/** Maximum cron expressions of a schedule. */
export const expressionsMax = 10;

const day = 86_400_000;
/** Minimum and maximum of each number and duration in a schedule's definition. Durations are in milliseconds. */
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
    'A value from the start: {"$ref": "fire.at"}, {"$ref": "event.payload.id"}, {"$text": "{fire.localDate}"}, or a constant.',
};
const key: JsonSchema = {
  description:
    "Runs with the same key share the limit: a text from the start. Without it, all runs of the program share it.",
};
const whenOver: JsonSchema = {
  enum: ["queue", "skip"],
  description: "Says if a run over the limit waits or is left out.",
};

/**
 * Allowed fields of the object `catchUp` in a schedule's definition. The object says which times still start runs after svc was stopped.
 */
export const catchUpForm: ObjectForm = {
  description: "Handling of occurrences that were missed while svc was stopped.",
  required: {},
  optional: {
    window: durationSchema("Maximum lateness of an occurrence; later ones are left out. Default 1d.", "1d"),
    runs: { enum: ["none", "last", "all"], description: "Missed occurrences that still run. Default last." },
  },
  examples: [{ window: "1d", runs: "last" }],
};

/** Allowed fields of the object `schedule` in a definition. The object says at which times runs start. */
export const scheduleForm: ObjectForm = {
  description: "The times at which it is due: exactly one of cron, every and at.",
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
    every: durationSchema(
      "Interval of elapsed time from startAt, else from the epoch, independent of the time zone.",
      "15m",
    ),
    at: {
      description: "Instants.",
      type: "array",
      minItems: 1,
      maxItems: timesMax,
      items: { type: "string", format: "date-time" },
      examples: [["2027-01-01T00:00:00Z"]],
    },
    startAt: { description: "First time at which it can be due.", type: "string", format: "date-time" },
    endAt: { description: "Time from which it is no longer due.", type: "string", format: "date-time" },
    jitter: durationSchema(
      "Delays each occurrence by a part of this duration, always the same part for the same occurrence.",
      "2m",
    ),
    catchUp: schemaOf(catchUpForm),
  },
  examples: [{ cron: ["0 9 * * 1-5"], jitter: "2m" }],
};

/** Allowed fields of the object `trigger` in a schedule's definition. The object names the trigger whose events start runs. */
export const triggerForm: ObjectForm = {
  description: "Each event of a trigger starts a run.",
  required: { slug: { description: "The trigger.", type: "string", examples: ["calendar.events_changed"] } },
  optional: { entity: { description: "Only events about the account of this entity.", type: "string" } },
  examples: [{ slug: "calendar.events_changed" }],
};

/**
 * Form of a poll's field `first` if it is an object, such as `{ last: 10 }`. At the first poll, only the last 10 rows of the list then
 * start runs.
 */
export const firstForm: ObjectForm = {
  description: "The last rows of the list.",
  required: { last: wholeSchema("How many.", bounds.last, 10) },
  optional: {},
  examples: [{ last: 10 }],
};

const pathSchema = (description: string, example: string): JsonSchema => {
  return { description, type: "string", minLength: 1, maxLength: 512, examples: [example] };
};

/**
 * Allowed fields of the object `cursor` of a poll in a schedule's definition. The object says how a poll finds the rows that are new since
 * the previous poll.
 */
export const cursorForm: ObjectForm = {
  description: "Position from which a poll continues, instead of the tool's declaration.",
  required: { kind: { enum: ["seen", "after", "newest", "token"], description: "Its kind." } },
  optional: {
    arg: pathSchema("For after and token: the argument that takes the bound, or the token.", "since"),
    from: pathSchema(
      "For after: the path in a row from which the bound is made; without it, the time of the poll is the bound. For token: the path of the next token in the answer.",
      "created_at",
    ),
    overlap: durationSchema("For after: how far before the bound svc also looks for late rows; at most 7 days.", "10m"),
    step: wholeSchema(
      "For after, if from is a number that is unique for each row: a number to add to it.",
      bounds.step,
      1,
    ),
    more: pathSchema(
      "For token: the path of the boolean in the answer that is false when no rows are left.",
      "has_more",
    ),
    args: { description: "For newest: arguments that sort the newest rows first.", type: "object", minProperties: 1 },
  },
  examples: [{ kind: "seen" }, { kind: "after", arg: "since", from: "created_at", overlap: "10m" }],
};

/**
 * Allowed fields of the object `poll` in a schedule's definition. The object names the tool whose list is read, and which of its rows start
 * runs.
 */
export const pollForm: ObjectForm = {
  description: "New rows of a list that a tool reads start runs.",
  required: {
    call: { description: "The tool, of class read.", type: "string", examples: ["sales_crm.list_deals"] },
    entity: { description: "Entity whose account of the app is read.", type: "string", examples: ["ops"] },
    every: durationSchema("Time between polls, at least a minute.", "5m"),
  },
  optional: {
    args: { description: "Its arguments, the same for each poll.", type: "object", examples: [{ status: "open" }] },
    first: {
      description: "Rows of the first poll that start runs: none (default), all, or the last rows.",
      anyOf: [{ enum: ["skip", "all"] }, schemaOf(firstForm)],
    },
    on: { enum: ["new", "changed"], description: "changed: also rows whose kept fields differ. Default new." },
    per: {
      enum: ["poll", "row"],
      description: "row: each row starts a run. Default poll: a run gets all rows of a poll.",
    },
    keep: {
      description: "Fields of a row that runs get and that are compared. Default all fields of the tool's output.",
      type: "array",
      minItems: 1,
      maxItems: 100,
      items: { type: "string" },
      examples: [["id", "title"]],
    },
    rows: pathSchema("Path of the list in the answer, ending in []. Default as the tool declares.", "items[]"),
    id: pathSchema("Path of a row's id in the row. Default as the tool declares.", "id"),
    size: pathSchema("For a list of one page: the argument for the number of rows in the answer.", "limit"),
    cursor: schemaOf(cursorForm),
  },
  examples: [{ call: "sales_crm.list_deals", entity: "ops", every: "5m" }],
};

/** Allowed fields of the object `source` in a schedule's definition. The object says what starts runs: times, a trigger or a poll. */
export const sourceForm: ObjectForm = {
  description: "The source of its runs: exactly one of schedule, trigger and poll.",
  required: {},
  optional: { schedule: schemaOf(scheduleForm), trigger: schemaOf(triggerForm), poll: schemaOf(pollForm) },
  examples: [{ schedule: { every: "15m" } }, { trigger: { slug: "calendar.events_changed" } }],
};

const condition: JsonSchema = {
  description:
    "A CEL expression over fire, event or row, and params, under the rules of program expressions. If it is false, no run starts.",
  type: "string",
  minLength: 1,
  examples: ["event.payload.amount > params.min"],
};

/**
 * Allowed fields of the object `dedupe` in a schedule's definition. The object says how duplicates (for example of events) are recognized.
 */
export const dedupeForm: ObjectForm = {
  description: "Key of an occurrence: an occurrence with a key that occurred within the window starts no run.",
  required: { key: { description: 'A text from the start: {"$ref": "event.payload.id"}.' } },
  optional: { window: durationSchema("Time for which a key is remembered. Default 24h.", "24h") },
  examples: [{ key: { $ref: "event.payload.id" }, window: "24h" }],
};

/** Allowed fields of the object `collect` in a schedule's definition. The object says how several events are gathered into one run. */
export const collectForm: ObjectForm = {
  description:
    "Events with the same key start one run: a window closes after quiet without an event, wait since its first, max events or 256 KiB.",
  required: {},
  optional: {
    quiet: durationSchema("Time without an event after which the window closes.", "30s"),
    wait: durationSchema("Time after its first event at which the window closes. Default 24h.", "10m"),
    max: wholeSchema("Number of events at which the window closes. Default 1,000 with all.", bounds.collectMax, 100),
    take: {
      enum: ["all", "last"],
      description: "all: events has each of them. last: only the last one, as a debounce. Default all.",
    },
    key,
  },
  examples: [{ quiet: "30s", wait: "10m", take: "all" }],
};

/** Allowed fields of the object `rate` in a schedule's definition. The object limits how many runs start in a time. */
export const rateForm: ObjectForm = {
  description: "Maximum number of run starts in a time.",
  required: {
    max: wholeSchema("Runs.", bounds.rateMax, 10),
    per: durationSchema("Length of that time.", "1m"),
  },
  optional: { whenOver, key },
  examples: [{ max: 10, per: "1m" }],
};

/** Allowed fields of the object `budget` in a schedule's definition. The object limits the runs, tool calls and writes of a day. */
export const budgetForm: ObjectForm = {
  description:
    "Maximum use by runs on a day of the time zone. Calls and writes count when their job ends, so running jobs can exceed the maximum.",
  required: {},
  optional: {
    runs: wholeSchema("Runs.", bounds.budget, 200),
    toolCalls: wholeSchema("Tool calls.", bounds.budget, 20_000),
    writes: wholeSchema("Calls that write.", bounds.budget, 500),
    whenOver,
  },
  examples: [{ runs: 200, writes: 500 }],
};

/**
 * Allowed fields of the object `overlap` in a schedule's definition. The object says what happens if a run is due while earlier runs are
 * active.
 */
export const overlapForm: ObjectForm = {
  description: "Handling of a run that is due while others are running.",
  required: {
    policy: {
      enum: ["skip", "queueOne", "queueAll", "cancelRunning", "allow"],
      description:
        "skip leaves it out; queueOne lets the newest wait; queueAll lets all wait; cancelRunning ends the others first; allow starts it.",
    },
  },
  optional: {
    max: wholeSchema("Runs at the same time. Default 1; with allow 100.", bounds.overlapMax, 1),
    queueMax: wholeSchema("Maximum waiting runs. Default 1,000.", bounds.queueMax, 1_000),
    queueFor: durationSchema("Maximum wait of a run. Default 24h.", "24h"),
    key,
  },
  examples: [{ policy: "queueAll" }],
};

/** Allowed fields of the whole definition of a schedule. */
export const definitionForm: ObjectForm = {
  description: "A standing program, version 1: a program that svc starts by itself.",
  required: {
    version: { const: 1 },
    source: schemaOf(sourceForm),
    program: { description: "The program, as SubmitJob takes it.", type: "object" },
  },
  optional: {
    title: { description: "Its purpose, in up to 200 characters.", type: "string", maxLength: 200 },
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
        "Handling of changes to the tools that it uses: follow adopts them if the program still has no errors, pause pauses. Default follow; pause if the plan needs approval.",
    },
    pauseAfter: wholeSchema(
      "Number of jobs in a row that fail or expire, and of refused starts, after which it pauses. Default 10; 0 for never.",
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

/** The JSON Schema of schedule definitions, as svc serves it. */
export const standingSchema: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  ...schemaOf(definitionForm),
};
