import type { JsonSchema } from "@svc/catalog";
import { formatValue } from "@svc/core";
import { pointerOf } from "./faults.ts";
import { durationBounds, programPointsMax } from "./limits.ts";
import type { Continuation, Hop, Overrides, OverrideTarget, Point } from "./program.ts";
import { readText } from "./read-value.ts";
import { checkSchemaDocument } from "./schema-document.ts";
import { type Fields, idForm, isObject, type Node, type ShapeReader } from "./shape.ts";

const continuations = ["proceed", "retry-with", "skip", "abort"] as const satisfies readonly Continuation[];

/** Ids that asks of the service itself have. */
const ownIds = ["approval", "in_doubt", "undo_stuck"];

/** Reads the points by id. Ids of those left out go to `broken`. */
export function readPoints(node: Node, reader: ShapeReader, broken: Set<string>): Map<string, Point> {
  const points = new Map<string, Point>();
  const count = Object.keys(isObject(node.value) ? node.value : {}).length;
  if (count > programPointsMax) {
    const message = `has ${count} points; at most ${programPointsMax} are allowed`;
    reader.faults.add("PROGRAM_TOO_LARGE", node.path, message, "let steps share their points");
  }
  for (const [id, value] of Object.entries(reader.object(node) ?? {})) {
    const at: Node = { value, path: [...node.path, id] };
    if (!idForm.pattern.test(id)) {
      reader.faults.add("PROGRAM_MALFORMED", at.path, `is named ${formatValue(id)}`, idForm.hint);
    }
    if (ownIds.includes(id)) {
      reader.faults.add("PROGRAM_POINT_INVALID", at.path, `is named ${id}, as the service's own asks are`, "rename it");
    }
    const point = readPoint(id, at, reader);
    if (point === undefined) broken.add(id);
    else points.set(id, point);
  }
  return points;
}

const ladderNames = ["continuations", "overrides", "answerSchema", "escalation", "default"];

function readPoint(id: string, node: Node, reader: ShapeReader): Point | undefined {
  const fields = reader.fields(node, ["question"], ["approval", ...ladderNames]);
  if (fields === undefined) return undefined;
  const text = reader.text(fields.at("question"), { max: 2000 });
  const question = text === undefined ? undefined : readText(text, fields.at("question").path, reader.faults);
  const isApproval = (fields.has("approval") && reader.flag(fields.at("approval"))) || false;
  const base = { id, pointer: pointerOf(node.path), question: question ?? { kind: "text", parts: [] } } as const;
  if (isApproval) return readGate(base, fields, reader);
  for (const name of ["continuations", "escalation"]) {
    if (!fields.has(name)) reader.faults.add("PROGRAM_MALFORMED", node.path, `lacks ${name}`, `add ${name}`);
  }
  return {
    ...base,
    isApproval,
    continuations: readContinuations(fields.at("continuations"), reader),
    overrides: fields.has("overrides") ? readOverrides(fields.at("overrides"), reader) : undefined,
    answerSchema: readAnswerSchema(fields.at("answerSchema"), reader),
    escalation: readLadder(fields.at("escalation"), reader),
    defaultContinuation: fields.has("default") ? readDefault(fields.at("default"), reader) : undefined,
  };
}

/** An approval gate is addressed to the approvers and waits for them: it declares nothing but its question. */
function readGate(base: Pick<Point, "id" | "pointer" | "question">, fields: Fields, reader: ShapeReader): Point {
  for (const name of ladderNames) {
    if (!fields.has(name)) continue;
    const message = "stands in an approval gate, which approvers answer with proceed or abort, whenever they do";
    reader.faults.add("PROGRAM_POINT_INVALID", fields.at(name).path, message, `remove ${name}`);
  }
  return {
    ...base,
    isApproval: true,
    continuations: ["proceed", "abort"],
    overrides: undefined,
    answerSchema: undefined,
    escalation: [],
    defaultContinuation: undefined,
  };
}

function readContinuations(node: Node, reader: ShapeReader): Continuation[] {
  const items = node.value === undefined ? undefined : reader.items(node, { min: 1, max: 4 });
  const read = (items ?? []).flatMap((item) => reader.oneOf<Continuation>(item, continuations) ?? []);
  if (new Set(read).size < read.length) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, "names a continuation twice", "name each once");
  }
  return read;
}

function readOverrides(node: Node, reader: ShapeReader): Overrides | undefined {
  const fields = reader.fields(node, ["target"], ["rerunFrom"]);
  if (fields === undefined) return undefined;
  const hint = "write params, or steps.<id>.args for the arguments of one call";
  const text = reader.text(fields.at("target"), { max: 200, hint });
  const target = text === undefined ? undefined : parseTarget(text);
  if (text !== undefined && target === undefined) {
    reader.faults.add("PROGRAM_MALFORMED", fields.at("target").path, `is ${formatValue(text)}`, hint);
  }
  const rerunFrom = fields.has("rerunFrom") ? reader.text(fields.at("rerunFrom"), idForm) : undefined;
  return target && { target, rerunFrom };
}

function parseTarget(text: string): OverrideTarget | undefined {
  if (text === "params") return { kind: "params" };
  const step = /^steps\.([A-Za-z]\w{0,63})\.args$/.exec(text)?.[1];
  return step === undefined ? undefined : { kind: "args", step };
}

function readAnswerSchema(node: Node, reader: ShapeReader): JsonSchema | undefined {
  if (node.value === undefined) return undefined;
  if (!checkSchemaDocument(node, reader.faults, "PROGRAM_POINT_INVALID")) return undefined;
  const schema = node.value as JsonSchema;
  if (schema.additionalProperties !== false) {
    const hint = 'add "additionalProperties": false';
    reader.faults.add("PROGRAM_POINT_INVALID", node.path, "lets an answer name what nothing takes", hint);
  }
  return schema;
}

function readLadder(node: Node, reader: ShapeReader): Hop[] {
  const items = node.value === undefined ? undefined : reader.items(node, { min: 1, max: 5 });
  return (items ?? []).flatMap((item) => {
    const fields = reader.fields(item, ["principal"], ["timeout"]);
    // A hop that cannot be read keeps its place: the others are told by theirs.
    if (fields === undefined) return [{ principal: "", timeoutMs: undefined }];
    const principal = reader.text(fields.at("principal"), { max: 200 }) ?? "";
    return [{ principal, timeoutMs: reader.duration(fields.at("timeout"), durationBounds.hop) }];
  });
}

function readDefault(node: Node, reader: ShapeReader): Continuation | undefined {
  const field = reader.fields(node, ["continuation"], [])?.at("continuation");
  return field && reader.oneOf<Continuation>(field, continuations);
}
