import type { JsonSchema } from "@svc/catalog";
import { formatValue, isObject } from "@svc/core";
import { overlapPolicies } from "@svc/db/schema/words";
import {
  createShapeReader,
  type FaultList,
  type GivenTemplate,
  type JsonObject,
  parseJsonText,
  placesOf,
  type ReaderDocument,
  readExpression,
  readGiven,
  type ShapeNode,
  type ShapeReader,
} from "@svc/program";
import type { Poll } from "../poll/definition.ts";
import { readPoll } from "../poll/read.ts";
import { readSchedule, type TimeSearch } from "../schedule/read.ts";
import {
  type Budget,
  type Collect,
  type Dedupe,
  type Definition,
  givenTypeOf,
  type Overlap,
  type ProgramSource,
  type StartRate,
} from "./definition.ts";
import { createDefinitionFaults, type StandingFaults } from "./faults.ts";
import {
  bounds,
  budgetForm,
  collectForm,
  dedupeForm,
  definitionForm,
  overlapForm,
  rateForm,
  sourceForm,
  triggerForm,
} from "./forms.ts";

const kinds = ["schedule", "trigger", "poll"] as const;

/** Path under which svc serves the JSON Schema of schedule definitions. */
const standingSchemaPath = "/schemas/standing.v1.json";

/**
 * The names of all fields at the upper levels of a definition and its program. Fields inside the program's steps and judgment points are
 * not included. If an author puts a field at the wrong level, a hint uses these names to say where it belongs.
 */
const definitionPlaces: JsonSchema = {
  properties: {
    ...definitionForm.required,
    ...definitionForm.optional,
    program: {
      properties: {
        steps: true,
        points: true,
        params: true,
        inputSchema: true,
        result: true,
        saga: true,
        limits: true,
      },
    },
  },
};

/**
 * Describes the JSON document of a schedule for the functions that read JSON documents and find their errors. The program inside the
 * document is read separately.
 */
const definitionDocument: ReaderDocument = {
  schema: standingSchemaPath,
  places: placesOf(definitionPlaces, "source"),
};

/** Maximum number of characters of a schedule's definition, including the program inside it. */
const definitionCharactersMax = 327_680;

/** Result of reading the JSON text of a schedule's definition: the definition, whose program is not checked yet, or faults. */
export type DefinitionReading = {
  readonly faults: StandingFaults;
  /**
   * List for faults that carry error codes of programs. It translates the codes into those of schedules, and adds the faults to `faults`.
   */
  readonly shared: FaultList;
  /**
   * The schedule that was read from the JSON text. Undefined if the text is not an object. Also undefined if the program, or what starts
   * it, is not valid.
   */
  readonly definition: Definition | undefined;
  /** The object that was parsed from the schedule's JSON text. Undefined if the text is not an object. */
  readonly document: JsonObject | undefined;
};

/**
 * Maximum depth of nested objects and lists in a schedule's definition. It is one more than the maximum for the program, because the
 * program is inside the definition.
 */
const depthMax = 101;

/** Function that returns the JSON Schema of a trigger's payloads, or undefined if the trigger does not exist. */
export type PayloadTypes = (triggerSlug: string) => JsonSchema | undefined;

const nothingKnown: PayloadTypes = () => undefined;

/** Function that returns the JSON Schema of a polled list's rows, or undefined if the schema is not known. */
export type RowTypes = (poll: Poll) => JsonSchema | undefined;

/**
 * Reads the JSON text of the definition of a standing program (which starts jobs on a schedule or event). Records every fault that can be
 * found without knowing the project. `payloadOf`: returns the type of a trigger's events; if absent, any field of an event is accepted.
 * `rowOf`: the same for the rows of a poll. `search`: finds the times of a schedule; if undefined, any schedule is accepted.
 */
export async function readDefinition(
  text: string,
  search: TimeSearch | undefined,
  payloadOf: PayloadTypes = nothingKnown,
  rowOf: RowTypes = () => undefined,
): Promise<DefinitionReading> {
  if (text.length > definitionCharactersMax) {
    const { faults, shared } = createDefinitionFaults(undefined);
    faults.add("DEFINITION_TOO_LARGE", [], `has ${text.length} characters`, `write at most ${definitionCharactersMax}`);
    return { faults, shared, definition: undefined, document: undefined };
  }
  const { value, faults: textFaults } = parseJsonText(text, depthMax);
  const { faults, shared } = createDefinitionFaults(value);
  for (const { path, message, hint } of textFaults) faults.add("DEFINITION_MALFORMED", path, message, hint);
  if (value === undefined) {
    if (faults.count === 0)
      faults.add("DEFINITION_MALFORMED", [], `is nested deeper than ${depthMax} levels`, "flatten it");
    return { faults, shared, definition: undefined, document: undefined };
  }
  const reader = createShapeReader(shared, definitionDocument);
  const fields = reader.fields({ value, path: [] }, definitionForm);
  if (fields === undefined || !isObject(value)) return { faults, shared, definition: undefined, document: undefined };
  const document = value as JsonObject;
  if (fields.has("version") && fields.at("version").value !== 1) {
    faults.add("DEFINITION_MALFORMED", ["version"], `is ${formatValue(fields.at("version").value)}, not 1`, "write 1");
  }
  const timeZone = readZone(fields.at("timeZone"), reader, faults);
  const source = await readSource(fields.at("source"), { reader, faults, timeZone: timeZone ?? "UTC", search });
  const type = givenTypeOf(source, source && knownOf(source, payloadOf, rowOf));
  const given: GivenReader = (node) => readGiven(node, type, shared);
  const ofEvent: GivenReader = (node) => readGiven(node, type, shared, source?.kind !== "poll");
  const program = reader.object(fields.at("program"));
  const definition = {
    title: reader.text(fields.at("title"), { max: 200 }) ?? "",
    timeZone: timeZone ?? "UTC",
    when: readExpression(fields.at("when"), reader),
    input: ofEvent(fields.at("input")),
    dedupe: readDedupe(fields.at("dedupe"), reader, ofEvent),
    collect: readCollect(fields.at("collect"), reader, { faults, given, source }),
    rate: readRate(fields.at("rate"), reader, given),
    budget: readBudget(fields.at("budget"), reader, faults),
    overlap: readOverlap(fields.at("overlap"), reader, { given, source }),
    drift: reader.oneOf(fields.at("drift"), ["follow", "pause"]),
    pauseAfter: reader.number(fields.at("pauseAfter"), bounds.pauseAfter) ?? 10,
  };
  if (source === undefined || program === undefined) return { faults, shared, definition: undefined, document };
  return { faults, shared, document, definition: { ...definition, source, programJson: JSON.stringify(program) } };
}

/**
 * Returns the JSON Schema of the data that starts a run: the payload of an event, or a row of a poll. Returns undefined if runs start at
 * set times, or if the schema is not known.
 */
export function knownOf(source: ProgramSource, payloadOf: PayloadTypes, rowOf: RowTypes): JsonSchema | undefined {
  switch (source.kind) {
    case "schedule":
      return undefined;
    case "trigger":
      return payloadOf(source.slug);
    case "poll":
      return rowOf(source.poll);
  }
}

/**
 * Reads the definition of a stored version of a schedule. Rules that svc has added since the version was made do not apply, so that the
 * version stays valid.
 */
export async function readStoredDefinition(text: string): Promise<Definition> {
  const { definition } = await readDefinition(text, undefined);
  if (definition === undefined) throw new Error("a stored definition of a standing program cannot be read");
  return definition;
}

function readZone(node: ShapeNode, reader: ShapeReader, faults: StandingFaults): string | undefined {
  const name = reader.text(node, { max: 100 });
  if (name === undefined || isTimeZone(name)) return name;
  const hint = "write a name of the IANA database, such as Europe/Berlin; offsets have no daylight saving time";
  faults.add("TIME_ZONE_UNKNOWN", node.path, `is ${formatValue(name)}, which is not a time zone`, hint);
  return undefined;
}

function readRate(node: ShapeNode, reader: ShapeReader, given: GivenReader): StartRate | undefined {
  if (node.value === undefined) return undefined;
  const fields = reader.fields(node, rateForm);
  if (fields === undefined) return undefined;
  const max = reader.number(fields.at("max"), bounds.rateMax);
  const perMs = reader.duration(fields.at("per"), bounds.ratePer);
  const whenOver = reader.oneOf(fields.at("whenOver"), ["queue", "skip"]) ?? "queue";
  const key = given(fields.at("key"));
  return max === undefined || perMs === undefined ? undefined : { max, perMs, whenOver, key };
}

function readBudget(node: ShapeNode, reader: ShapeReader, faults: StandingFaults): Budget | undefined {
  if (node.value === undefined) return undefined;
  const fields = reader.fields(node, budgetForm);
  if (fields === undefined) return undefined;
  const [runs, toolCalls, writes] = ["runs", "toolCalls", "writes"].map((name) => {
    return reader.number(fields.at(name), bounds.budget);
  });
  if (!["runs", "toolCalls", "writes"].some((name) => fields.has(name))) {
    faults.add("POLICY_INVALID", node.path, "bounds nothing", "name runs, toolCalls or writes");
  }
  return { runs, toolCalls, writes, whenOver: reader.oneOf(fields.at("whenOver"), ["queue", "skip"]) ?? "queue" };
}

function readOverlap(
  node: ShapeNode,
  reader: ShapeReader,
  { given, source }: { readonly given: GivenReader; readonly source: ProgramSource | undefined },
): Overlap {
  const fields = node.value === undefined ? undefined : reader.fields(node, overlapForm);
  const at = (name: string): ShapeNode => fields?.at(name) ?? { value: undefined, path: [] };
  const policy =
    reader.oneOf(at("policy"), overlapPolicies) ??
    (source === undefined || source.kind === "schedule" ? "skip" : "queueAll");
  return {
    policy,
    max: reader.number(at("max"), bounds.overlapMax) ?? (policy === "allow" ? bounds.overlapMax.max : 1),
    queueMax: reader.number(at("queueMax"), bounds.queueMax) ?? 1_000,
    queueForMs: reader.duration(at("queueFor"), bounds.queueFor) ?? 86_400_000,
    key: given(at("key")),
  };
}

/**
 * Function that reads one template (a value with references) of a schedule's definition. The template may use the values of the event, time
 * or polled row that starts the schedule. Returns undefined if the template has errors.
 */
type GivenReader = (node: ShapeNode) => GivenTemplate | undefined;

/** Reads the field `dedupe` of a schedule's definition (the rule that ignores repeated events), and records errors in it. */
function readDedupe(node: ShapeNode, reader: ShapeReader, given: GivenReader): Dedupe | undefined {
  if (node.value === undefined) return undefined;
  const fields = reader.fields(node, dedupeForm);
  const key = fields && given(fields.at("key"));
  const windowMs = fields && (reader.duration(fields.at("window"), bounds.dedupeWindow) ?? 86_400_000);
  return key === undefined || windowMs === undefined ? undefined : { key, windowMs };
}

/** Reads the field `collect` of a schedule's definition (the rule that gathers several events into one run), and records errors in it. */
function readCollect(
  node: ShapeNode,
  reader: ShapeReader,
  {
    faults,
    given,
    source,
  }: { readonly faults: StandingFaults; readonly given: GivenReader; readonly source: ProgramSource | undefined },
): Collect | undefined {
  if (node.value === undefined) return undefined;
  const fields = reader.fields(node, collectForm);
  if (fields === undefined) return undefined;
  if (source !== undefined && source.kind !== "trigger") {
    const starts = source.kind === "poll" ? "rows that a poll finds" : "times";
    faults.add("POLICY_INVALID", node.path, `collects events, but ${starts} start it`, "leave it out");
  }
  const quietMs = reader.duration(fields.at("quiet"), bounds.quiet);
  const waitMs = reader.duration(fields.at("wait"), bounds.wait);
  if (!fields.has("quiet") && !fields.has("wait")) {
    const hint = 'name quiet or wait: "quiet": "30s"';
    faults.add("POLICY_INVALID", node.path, "does not say when a window closes", hint);
  }
  const take = reader.oneOf(fields.at("take"), ["all", "last"]) ?? "all";
  const max = reader.number(fields.at("max"), bounds.collectMax);
  return {
    quietMs,
    waitMs: waitMs ?? bounds.wait.max,
    max: max ?? (take === "all" ? bounds.collectMax.max : undefined),
    take,
    key: given(fields.at("key")),
  };
}

/** True if a text is a time zone of the IANA database. False for offsets such as `+02:00`, because they have no summer time. */
function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(text)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    return true;
  } catch {
    // Intl throws an error for an unknown time zone.
    return false;
  }
}

/** Dependencies of the code that reads the object `source` of a schedule's definition (times, trigger or poll). */
type SourceReading = {
  readonly reader: ShapeReader;
  readonly faults: StandingFaults;
  readonly timeZone: string;
  /**
   * Finds the times of a cron expression or interval. Undefined for a schedule that is already stored, because its times were checked
   * before.
   */
  readonly search: TimeSearch | undefined;
};

/**
 * Reads what starts a schedule's program (a trigger, times or a poll) from the schedule's JSON document, and returns it. If this part has
 * errors, records them and returns undefined.
 */
async function readSource(node: ShapeNode, reading: SourceReading): Promise<ProgramSource | undefined> {
  const { reader, faults } = reading;
  const fields = reader.fields(node, sourceForm);
  if (fields === undefined) return undefined;
  const named = kinds.filter((kind) => fields.has(kind));
  const [kind] = named;
  if (kind === undefined || named.length > 1) {
    const message = kind === undefined ? "names no source" : `names ${named.join(" and ")}`;
    faults.add("DEFINITION_MALFORMED", node.path, message, `name exactly one of ${kinds.join(", ")}`);
    return undefined;
  }
  switch (kind) {
    case "schedule": {
      const schedule = await readSchedule(fields.at(kind), reading);
      return schedule && { kind, schedule };
    }
    case "trigger":
      return readTrigger(fields.at(kind), reading);
    case "poll": {
      const poll = readPoll(fields.at(kind), reader);
      return poll && { kind, poll };
    }
  }
}

function readTrigger(node: ShapeNode, { reader, faults }: SourceReading): ProgramSource | undefined {
  const fields = reader.fields(node, triggerForm);
  const slug = fields && reader.text(fields.at("slug"), { max: 200 });
  if (fields === undefined || slug === undefined) return undefined;
  const entity = reader.text(fields.at("entity"), { max: 200 });
  if (entity === "") {
    faults.add("DEFINITION_MALFORMED", fields.at("entity").path, `is ${formatValue("")}`, "name one, or leave it out");
  }
  return { kind: "trigger", slug, entity };
}
