import { isObject, parseDuration } from "@svc/core";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type { ActionDocument, JsonSchema, PollCursorDocument, PollDocument } from "../read/documents.ts";
import { createTenantValidators, faultsOfSchema } from "../schema/json-schema.ts";
import { faultOfOutputPath } from "./check-response.ts";

/** An error in the part `poll` of an action (how svc finds new rows of a list): its path in the file, the reason, and the correction. */
export type PollFault = readonly [path: FaultPath, reason: string, cure: string];

/** The parts of a tool's definition that are needed to check its poll. A poll calls the tool regularly to find new rows of its list. */
type PolledAction = Pick<Partial<ActionDocument>, "poll" | "paging" | "class" | "input" | "output">;

/**
 * Maximum overlap of two polls, in milliseconds. A poll with an overlap asks again for the last part of the time that the previous poll
 * covered. So the poll also finds rows that the app lists late.
 */
const overlapMaxMs = 7 * 86_400_000;

/** Records every error in an action's poll. A poll calls the action regularly to find new rows. */
export function checkPoll(file: DefinitionFile, document: PolledAction): void {
  for (const fault of faultsOfPoll(document)) file.fault(...fault);
}

/** Returns the errors of an action's poll; empty if the action declares no poll. */
export function faultsOfPoll({ poll, paging, class: access, input, output }: PolledAction): readonly PollFault[] {
  if (poll === undefined) return [];
  const faults: PollFault[] = [];
  if (access !== undefined && access !== "read") {
    faults.push([
      ["poll"],
      `is given for a tool of class ${access}`,
      "remove poll: only reads are made again and again",
    ]);
  }
  if (poll.size !== undefined && paging !== undefined) {
    faults.push([["poll", "size"], "is given together with paging", "remove size: pages end by themselves"]);
  }
  const row = output === undefined ? undefined : faultsOfRows(poll, output, faults);
  const properties = input !== undefined && isObject(input.properties) ? input.properties : undefined;
  if (poll.size !== undefined && properties !== undefined) {
    lookAtArgument(poll.size, "size", properties, faults);
    if (Object.hasOwn(properties, poll.size) && !typesOf(properties[poll.size]).some(isNumeric)) {
      faults.push([["poll", "size"], `"${poll.size}" does not take whole numbers`, "name one that does"]);
    }
  }
  const cursors = { cursor: poll.cursor, ...(poll.changed && { changed: poll.changed }) };
  for (const [key, cursor] of Object.entries(cursors)) {
    faults.push(...faultsOfCursor(cursor, { row, output, properties, input, at: ["poll", key] }));
  }
  if (poll.changed?.kind === "newest") {
    const cure = "write {kind: after, arg} with an argument that takes when a row last changed, or {kind: seen}";
    faults.push([["poll", "changed", "kind"], "newest finds no row that changed", cure]);
  }
  return faults;
}

/**
 * Data for checking a poll (a repeated call that finds new rows): the path of the poll's cursor in the toolkit's definition file (YAML of
 * one app), and the schemas of the action that the poll calls. A schema that is faulty or missing is undefined.
 */
type Place = {
  readonly at: FaultPath;
  readonly row: JsonSchema | undefined;
  readonly output: JsonSchema | undefined;
  readonly input: JsonSchema | undefined;
  readonly properties: Properties | undefined;
};

function faultsOfCursor(cursor: PollCursorDocument, place: Place): PollFault[] {
  const { properties, input, output, at } = place;
  const faults = faultsOfForm(cursor, at);
  if (properties !== undefined && input !== undefined) faults.push(...faultsOfArguments(cursor, properties, input, at));
  if (output !== undefined) faults.push(...faultsOfSources(cursor, { ...place, output }));
  return faults;
}

/** Adds the errors of a poll's rows to `faults`. Returns the schema of a row; undefined if it is unknown. */
function faultsOfRows({ rows, id }: PollDocument, output: JsonSchema, faults: PollFault[]): JsonSchema | undefined {
  const list = listAt(output, rows);
  if ("fault" in list) {
    faults.push([["poll", "rows"], `"${rows}" ${list.fault}`, "name the list of the output: items[], or data.items[]"]);
    return undefined;
  }
  const { row } = list;
  const fault = row === undefined ? undefined : faultOfOutputPath(row, id, ["string", "integer", "number"]);
  if (fault !== undefined) {
    const known = row !== undefined && isObject(row.properties) ? `: ${Object.keys(row.properties).join(", ")}` : "";
    faults.push([["poll", "id"], `"${id}" of a row ${fault}`, `name a text or number of each row${known}`]);
  }
  return row;
}

/**
 * Returns the schema of the items of a list in a tool's output, or the reason why the output has no such list. `rows`: path of the list,
 * which ends in `[]`.
 */
function listAt(output: JsonSchema, rows: string): { row: JsonSchema | undefined } | { fault: string } {
  if (!/^(?:[\w$@-]+(?:\.[\w$@-]+|\[\d{1,6}\])*)?\[\]$/.test(rows)) return { fault: "is not the path of a list" };
  let node: unknown = output;
  for (const [, index, name = ""] of rows.slice(0, -2).matchAll(/\[(\d+)\]|([\w$@-]+)/g)) {
    if (!isObject(node)) return { row: undefined };
    const group: unknown = index === undefined ? node.properties : undefined;
    if (isObject(group) && !Object.hasOwn(group, name)) return { fault: "is not in the tool's output" };
    node = index === undefined ? (isObject(group) ? group[name] : undefined) : node.items;
  }
  const types = typesOf(node).filter((type) => type !== "null");
  if (types.length > 0 && !types.includes("array")) return { fault: `is ${types.join(" or ")}, not a list` };
  return { row: isObject(node) && isObject(node.items) ? node.items : undefined };
}

type CursorKind = PollCursorDocument["kind"];

/** Required and optional fields of each kind of poll cursor (the rule by which a poll continues after the previous one). */
const fieldsOf: Readonly<
  Record<CursorKind, { readonly required: readonly string[]; readonly optional: readonly string[] }>
> = {
  seen: { required: [], optional: [] },
  after: { required: ["arg"], optional: ["from", "overlap", "step"] },
  newest: { required: ["args"], optional: [] },
  token: { required: ["arg", "from"], optional: ["more"] },
};

const examples: Readonly<Record<CursorKind, string>> = {
  seen: "{kind: seen}",
  after: "{kind: after, arg: since, from: created_at, overlap: 10m}",
  newest: "{kind: newest, args: {sort: created, order: desc}}",
  token: "{kind: token, arg: cursor, from: next_cursor, more: has_more}",
};

function faultsOfForm(cursor: PollCursorDocument, at: FaultPath): PollFault[] {
  const { kind, overlap, step } = cursor;
  const { required, optional } = fieldsOf[kind];
  const faults: PollFault[] = [];
  for (const name of required) {
    if (!Object.hasOwn(cursor, name)) faults.push([at, `has no ${name}`, `write ${examples[kind]}`]);
  }
  for (const name of Object.keys(cursor)) {
    if (name === "kind" || required.includes(name) || optional.includes(name)) continue;
    faults.push([[...at, name], `is not of the kind ${kind}`, `remove it: ${examples[kind]}`]);
  }
  if (kind !== "after") return faults;
  if (overlap !== undefined) faults.push(...faultsOfOverlap(overlap, [...at, "overlap"]));
  if (step !== undefined && cursor.from === undefined) {
    faults.push([[...at, "step"], "is given without from", "add from: the path of a whole number of each row"]);
  }
  if (step !== undefined && overlap !== undefined) {
    faults.push([
      [...at, "overlap"],
      "is given together with step",
      "remove one: step is for numbers, overlap is for times",
    ]);
  }
  return faults;
}

function faultsOfOverlap(text: string, at: FaultPath): PollFault[] {
  let ms: number;
  try {
    ms = parseDuration(text);
  } catch {
    return [[at, `"${text}" is not a duration`, "write one such as 10m"]];
  }
  return ms <= overlapMaxMs ? [] : [[at, `is ${text}, more than 7 days`, "write a shorter one, such as 10m"]];
}

type Properties = Readonly<Record<string, unknown>>;

function faultsOfArguments(
  cursor: PollCursorDocument,
  properties: Properties,
  input: JsonSchema,
  place: FaultPath,
): PollFault[] {
  const faults: PollFault[] = [];
  const { arg, args, kind } = cursor;
  if (arg !== undefined && (kind === "after" || kind === "token")) {
    lookAtArgument(arg, "arg", properties, faults, [...place, "arg"]);
  }
  if (kind !== "newest" || !isObject(args)) return faults;
  for (const name of Object.keys(args)) {
    lookAtArgument(name, name, properties, faults, [...place, "args", name]);
  }
  if (faults.length > 0 || faultsOfSchema(input).length > 0) return faults;
  // This schema checks each argument alone. It does not check if all required arguments are present, and it has no rules about several
  // arguments. Another check does both.
  const alone = { type: "object", properties, ...(isObject(input.$defs) && { $defs: input.$defs }) };
  for (const { pointer, message } of createTenantValidators()(alone)(args)) {
    const steps = pointer.split("/").slice(1);
    faults.push([[...place, "args", ...steps], message, "write what the argument's schema allows"]);
  }
  return faults;
}

function lookAtArgument(
  name: string,
  key: string,
  properties: Properties,
  faults: PollFault[],
  path: FaultPath = ["poll", key],
): void {
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (schema === undefined) {
    const known = Object.keys(properties).join(", ");
    faults.push([path, `"${name}" is not an argument`, `name one of input.properties${known && `: ${known}`}`]);
  } else if (isObject(schema) && schema["x-sensitive"] === true) {
    faults.push([path, `"${name}" takes a secret`, "name another: a poll holds none"]);
  }
}

/** Returns the errors of a poll's cursor. The cursor says from where the next poll takes the value of its argument `arg`. */
function faultsOfSources(
  { kind, arg = "", from, more, step, overlap }: PollCursorDocument,
  { row, output, properties, at: place }: Place & { readonly output: JsonSchema },
): PollFault[] {
  const faults: PollFault[] = [];
  const at = (key: string): FaultPath => [...place, key];
  const taken = properties === undefined ? [] : typesOf(properties[arg]).filter((type) => type !== "null");
  if (kind === "token") {
    const fault = from === undefined ? undefined : faultOfOutputPath(output, from, ["string", "integer", "number"]);
    if (fault !== undefined)
      faults.push([at("from"), `"${from}" ${fault}`, "name the text or number that arg takes next"]);
    const moreFault = more === undefined ? undefined : faultOfOutputPath(output, more, ["boolean"]);
    if (moreFault !== undefined) faults.push([at("more"), `"${more}" ${moreFault}`, "name a boolean of the output"]);
  }
  if (kind !== "after") return faults;
  if (from === undefined) {
    if (taken.length > 0 && !taken.includes("string")) {
      const cure = "add from: the path of what the rows have of that kind";
      faults.push([at("arg"), `"${arg}" does not take a time, which is the bound without from`, cure]);
    }
    return faults;
  }
  const wanted = taken.some(isNumeric) ? ["integer", "number"] : ["string"];
  const fault = row === undefined ? undefined : faultOfOutputPath(row, from, wanted);
  if (fault !== undefined) faults.push([at("from"), `"${from}" of a row ${fault}`, `name what "${arg}" takes`]);
  const takesText = taken.length > 0 && !taken.some(isNumeric);
  if (step !== undefined && takesText) faults.push([at("step"), `"${arg}" does not take numbers`, "remove step"]);
  if (overlap !== undefined && taken.length > 0 && !takesText) {
    faults.push([at("overlap"), `"${arg}" takes numbers, and overlap is a time`, "remove overlap"]);
  }
  return faults;
}

function typesOf(schema: unknown): string[] {
  return isObject(schema) && schema.type !== undefined ? [schema.type].flat().map(String) : [];
}

const isNumeric = (type: string) => type === "integer" || type === "number";

/** True if a value has the form of a poll. Checks only the fields that the rules for polls use. */
export function isPollDocument(value: unknown): value is PollDocument {
  if (!isObject(value) || typeof value.rows !== "string" || typeof value.id !== "string") return false;
  if (typeof (value.size ?? "") !== "string") return false;
  return isCursor(value.cursor) && (value.changed === undefined || isCursor(value.changed));
}

function isCursor(value: unknown): boolean {
  if (!isObject(value) || !Object.hasOwn(fieldsOf, String(value.kind))) return false;
  return ["arg", "from", "overlap", "more"].every((name) => typeof ((value as Properties)[name] ?? "") === "string");
}
