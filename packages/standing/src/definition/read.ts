import { formatValue, isObject } from "@svc/core";
import {
  createShapeReader,
  type GivenTemplate,
  type JsonObject,
  type Node,
  parseJsonText,
  readGiven,
  type ShapeReader,
} from "@svc/program";
import { readSchedule } from "../schedule/read.ts";
import { isTimeZone } from "../schedule/zone.ts";
import { type Budget, type Definition, givenType, type Overlap, type OverlapPolicy, type Rate } from "./definition.ts";
import { createDefinitionFaults, type DefinitionFaults } from "./faults.ts";
import {
  bounds,
  budgetForm,
  definitionCharactersMax,
  definitionForm,
  overlapForm,
  rateForm,
  sourceForm,
} from "./forms.ts";

/** What a text is: a definition whose program was not looked at, or what is wrong with it. */
export type ReadDefinition = {
  readonly faults: DefinitionFaults;
  /** Undefined where the text is no object, or lacks what nothing stands in for. */
  readonly definition: Definition | undefined;
  /** The parsed text. */
  readonly document: JsonObject | undefined;
};

/** Levels that a definition may be nested: a program has as many, and stands one below. */
const depthMax = 101;

/** Reads a definition. Every fault that does not take the project to see is recorded at once. */
export async function readDefinition(text: string, nowMs: number): Promise<ReadDefinition> {
  if (text.length > definitionCharactersMax) {
    const { faults } = createDefinitionFaults(undefined);
    faults.add("DEFINITION_TOO_LARGE", [], `has ${text.length} characters`, `write at most ${definitionCharactersMax}`);
    return { faults, definition: undefined, document: undefined };
  }
  const { value, faults: textFaults } = parseJsonText(text, depthMax);
  const { faults, shared } = createDefinitionFaults(value);
  for (const { path, message, hint } of textFaults) faults.add("DEFINITION_MALFORMED", path, message, hint);
  if (value === undefined) {
    if (faults.count === 0)
      faults.add("DEFINITION_MALFORMED", [], `is nested deeper than ${depthMax} levels`, "flatten it");
    return { faults, definition: undefined, document: undefined };
  }
  const reader = createShapeReader(shared);
  const fields = reader.fields({ value, path: [] }, definitionForm);
  if (fields === undefined || !isObject(value)) return { faults, definition: undefined, document: undefined };
  const document = value as JsonObject;
  if (fields.has("version") && fields.at("version").value !== 1) {
    faults.add("DEFINITION_MALFORMED", ["version"], `is ${formatValue(fields.at("version").value)}, not 1`, "write 1");
  }
  const timeZone = readZone(fields.at("timeZone"), reader, faults);
  const source = reader.fields(fields.at("source"), sourceForm);
  const schedule =
    source?.has("schedule") === true
      ? await readSchedule(source.at("schedule"), { reader, faults, timeZone: timeZone ?? "UTC", nowMs })
      : undefined;
  const program = reader.object(fields.at("program"));
  const definition = {
    title: reader.text(fields.at("title"), { max: 200 }) ?? "",
    timeZone: timeZone ?? "UTC",
    input: readGiven(fields.at("input"), givenType, shared),
    rate: readRate(fields.at("rate"), reader),
    budget: readBudget(fields.at("budget"), reader, faults),
    overlap: readOverlap(fields.at("overlap"), reader),
    pauseAfter: reader.number(fields.at("pauseAfter"), bounds.pauseAfter) ?? 10,
  };
  if (schedule === undefined || program === undefined) return { faults, definition: undefined, document };
  return { faults, document, definition: { ...definition, schedule, programJson: JSON.stringify(program) } };
}

/** The definition of a stored version: it was read before, and what is new since is not asked of it. */
export async function readStoredDefinition(text: string): Promise<Definition> {
  // No occurrence is before the epoch: one that is over by now is read as well.
  const { definition } = await readDefinition(text, 0);
  if (definition === undefined) throw new Error("a stored definition of a standing program cannot be read");
  return definition;
}

function readZone(node: Node, reader: ShapeReader, faults: DefinitionFaults): string | undefined {
  const name = reader.text(node, { max: 100 });
  if (name === undefined || isTimeZone(name)) return name;
  const hint = "write a name of the IANA database, such as Europe/Berlin; offsets know no summer time";
  faults.add("TIME_ZONE_UNKNOWN", node.path, `is ${formatValue(name)}, which is no time zone`, hint);
  return undefined;
}

function readKey(node: Node, reader: ShapeReader): GivenTemplate | undefined {
  return readGiven(node, givenType, reader.faults);
}

function readRate(node: Node, reader: ShapeReader): Rate | undefined {
  if (node.value === undefined) return undefined;
  const fields = reader.fields(node, rateForm);
  if (fields === undefined) return undefined;
  const max = reader.number(fields.at("max"), bounds.rateMax);
  const perMs = reader.duration(fields.at("per"), bounds.ratePer);
  const whenOver = reader.oneOf(fields.at("whenOver"), ["queue", "skip"]) ?? "queue";
  const key = readKey(fields.at("key"), reader);
  return max === undefined || perMs === undefined ? undefined : { max, perMs, whenOver, key };
}

function readBudget(node: Node, reader: ShapeReader, faults: DefinitionFaults): Budget | undefined {
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

const policies: readonly OverlapPolicy[] = ["skip", "queueOne", "queueAll", "cancelRunning", "allow"];

function readOverlap(node: Node, reader: ShapeReader): Overlap {
  const fields = node.value === undefined ? undefined : reader.fields(node, overlapForm);
  const at = (name: string): Node => fields?.at(name) ?? { value: undefined, path: [] };
  const policy = reader.oneOf(at("policy"), policies) ?? "skip";
  return {
    policy,
    max: reader.number(at("max"), bounds.overlapMax) ?? (policy === "allow" ? bounds.overlapMax.max : 1),
    queueMax: reader.number(at("queueMax"), bounds.queueMax) ?? 1_000,
    queueForMs: reader.duration(at("queueFor"), bounds.queueFor) ?? 86_400_000,
    key: readKey(at("key"), reader),
  };
}
