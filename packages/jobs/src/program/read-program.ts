import { applyDefaults, type JsonSchema } from "@svc/catalog";
import { createFaultList, type FaultList } from "./faults.ts";
import { parseJsonText } from "./json-text.ts";
import { defaultLimits, limitBounds, programBytesMax, programDepthMax } from "./limits.ts";
import type { Approval, JsonObject, Limits, Point, Program, ProgramFault, SagaEnd, ValueTemplate } from "./program.ts";
import { readPoints } from "./read-points.ts";
import { readSteps } from "./read-steps.ts";
import { readValue } from "./read-value.ts";
import { checkSchemaDocument } from "./schema-document.ts";
import { createShapeReader, type Fields, isObject, type Node, type ShapeReader } from "./shape.ts";

/** A document that could be read as a program, as far as it has its shape. `broken`: ids of what had to be left out. */
export type ReadProgram = {
  readonly document: JsonObject;
  readonly program: Program;
  readonly broken: { readonly steps: ReadonlySet<string>; readonly points: ReadonlySet<string> };
  readonly faults: FaultList;
};

/**
 * Reads the shape of a program: what its schema says, and what no schema can (durations, paths, ids). Every fault is in the list;
 * faulty steps and points are left out of the program. `program` is undefined for a text that is no JSON object.
 */
export function readProgram(programJson: string): ReadProgram | { readonly faults: FaultList } {
  const tooLarge = Buffer.byteLength(programJson) > programBytesMax;
  if (tooLarge) {
    const faults = createFaultList(undefined);
    const message = `has ${Buffer.byteLength(programJson)} bytes; at most ${programBytesMax} are allowed`;
    faults.add("PROGRAM_TOO_LARGE", [], message, "keep data out of the program, or split it into several jobs");
    return { faults };
  }
  const { value, faults: textFaults } = parseJsonText(programJson, programDepthMax);
  const faults = createFaultList(value);
  for (const { path, message, hint } of textFaults) faults.add("PROGRAM_MALFORMED", path, message, hint);
  if (value === undefined) return { faults };
  const broken = { steps: new Set<string>(), points: new Set<string>() };
  const program = readDocument({ value, path: [] }, createShapeReader(faults), broken);
  return program === undefined || !isObject(value) ? { faults } : { document: value, program, broken, faults };
}

/** Reads a program that was checked before, as the store keeps it. Throws an Error when it has a fault, which is a broken store. */
export function parseCheckedProgram(programJson: string): Program {
  const read = readProgram(programJson);
  const [fault] = read.faults.list();
  if (fault === undefined && "program" in read) return read.program;
  throw new Error(`program is not a checked one: ${describe(fault)}`);
}

function describe(fault: ProgramFault | undefined): string {
  return fault === undefined ? "it is no object" : `${fault.pointer} ${fault.message}`;
}

const optionalNames = ["$schema", "inputSchema", "input", "params", "limits", "approval", "points", "saga", "result"];

type Broken = { readonly steps: Set<string>; readonly points: Set<string> };

function readDocument(root: Node, reader: ShapeReader, broken: Broken): Program | undefined {
  const fields = reader.fields(root, ["version", "title", "steps"], optionalNames);
  if (fields === undefined) return undefined;
  const version = fields.at("version");
  if (version.value !== undefined && version.value !== 1) {
    reader.faults.add("PROGRAM_MALFORMED", version.path, "is not a version that this service knows", "write 1");
  }
  if (fields.has("$schema")) reader.text(fields.at("$schema"), { max: 2000 });
  const inputSchema = readInputSchema(fields.at("inputSchema"), reader);
  const input = (fields.has("input") && reader.object(fields.at("input"))) || {};
  const limits = readLimits(fields.at("limits"), reader);
  return {
    version: 1,
    title: reader.text(fields.at("title"), { max: 200 }) ?? "",
    inputSchema,
    input: inputSchema === undefined ? input : (applyDefaults(inputSchema, input) as JsonObject),
    params: (fields.has("params") && reader.object(fields.at("params"))) || {},
    limits,
    approval: readApproval(fields.at("approval"), reader),
    steps: readSteps(fields.at("steps"), reader, { limits, broken: broken.steps }),
    points: fields.has("points") ? readPoints(fields.at("points"), reader, broken.points) : new Map<string, Point>(),
    sagaOn: readSaga(fields.at("saga"), reader),
    result: readResult(fields, reader),
  };
}

function readInputSchema(node: Node, reader: ShapeReader): JsonSchema | undefined {
  if (node.value === undefined) return undefined;
  return checkSchemaDocument(node, reader.faults, "PROGRAM_MALFORMED") ? (node.value as JsonSchema) : undefined;
}

function readLimits(node: Node, reader: ShapeReader): Limits {
  if (node.value === undefined) return defaultLimits;
  const names = ["deadline", "toolCalls", "writes", "rows", "asks", "concurrency"] as const;
  const fields = reader.fields(node, [], names);
  if (fields === undefined) return defaultLimits;
  const limits = { ...defaultLimits };
  for (const name of names) {
    const field = fields.at(name);
    if (name === "deadline") limits.deadlineMs = reader.duration(field, limitBounds.deadlineMs) ?? limits.deadlineMs;
    else limits[name] = readLimit(field, limitBounds[name], reader) ?? limits[name];
  }
  return limits;
}

function readLimit(node: Node, { min, max }: { min: number; max: number }, reader: ShapeReader): number | undefined {
  const { value, path } = node;
  if (typeof value !== "number") return reader.number(node, { min, max });
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  reader.faults.add(
    "PROGRAM_LIMIT_INVALID",
    path,
    `is ${value}, out of its bounds`,
    `write a whole number from ${min} to ${max}`,
  );
  return undefined;
}

function readApproval(node: Node, reader: ShapeReader): Approval {
  const fields = node.value === undefined ? undefined : reader.fields(node, [], ["plan", "escalation"]);
  if (fields === undefined) return { plan: "destructive", escalation: [] };
  const hops = fields.has("escalation") ? reader.items(fields.at("escalation"), { min: 1, max: 5 }) : [];
  const escalation = (hops ?? []).map((hop) => {
    const principal = reader.fields(hop, ["principal"], [])?.at("principal");
    // A hop that cannot be read keeps its place: the others are told by theirs.
    return (principal && reader.text(principal, { max: 200 })) ?? "";
  });
  return { plan: reader.oneOf(fields.at("plan"), ["never", "destructive", "always"]) ?? "destructive", escalation };
}

function readSaga(node: Node, reader: ShapeReader): readonly SagaEnd[] {
  const fields = node.value === undefined ? undefined : reader.fields(node, ["on"], []);
  const items = fields?.has("on") ? reader.items(fields.at("on"), { min: 1, max: 3 }) : undefined;
  const ends = (items ?? []).flatMap((item) => reader.oneOf<SagaEnd>(item, ["failed", "aborted", "cancelled"]) ?? []);
  if (new Set(ends).size < ends.length) {
    reader.faults.add("PROGRAM_MALFORMED", [...node.path, "on"], "names an end twice", "name each once");
  }
  return ends;
}

function readResult(fields: Fields, reader: ShapeReader): readonly (readonly [string, ValueTemplate])[] {
  const node = fields.at("result");
  const object = fields.has("result") ? reader.object(node) : undefined;
  return Object.entries(object ?? {}).flatMap(([name, value]) => {
    const template = readValue({ value, path: [...node.path, name] }, reader.faults);
    if (template === undefined) return [];
    const isCompound =
      template.kind === "object" ||
      template.kind === "list" ||
      (template.kind === "literal" && typeof template.value === "object" && template.value !== null);
    if (!isCompound) return [[name, template] as const];
    reader.faults.add(
      "PROGRAM_MALFORMED",
      [...node.path, name],
      "is not a scalar",
      "name text, numbers, true, false or null",
    );
    return [];
  });
}
