import { pointerOf } from "./faults.ts";
import { defaultRetry, defaultTimeoutMs, durationBounds } from "./limits.ts";
import type { CallStep, Path, Retry, RowsSpec, UndoCall, ValueTemplate } from "./program.ts";
import { readValue } from "./read-value.ts";
import { parsePath } from "./reference.ts";
import { type Fields, isObject, type Node, type ShapeReader } from "./shape.ts";

const slugHint = "write <toolkit>.<tool>, as search_tools names it";
const slugPattern = /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/;

/** Reads the fields of a call: a step of its own, or one of a map. */
export function readCall(
  { fields, id, pointer }: { readonly fields: Fields; readonly id: string; readonly pointer: string },
  reader: ShapeReader,
): CallStep | undefined {
  const tool = readTool(fields.at("call"), reader);
  const entity = readEntity(fields.at("entity"), reader);
  const rows = fields.has("rows") ? readRows(fields.at("rows"), reader) : undefined;
  const undo = fields.has("undo") ? readUndo(fields.at("undo"), reader, entity) : undefined;
  if (rows?.page !== undefined && undo !== undefined) {
    const hint = "leave out one of the two: the call is made once for each page";
    reader.faults.add("PROGRAM_MALFORMED", fields.at("undo").path, "stands beside rows.page", hint);
  }
  if (tool === undefined) return undefined;
  return {
    kind: "call",
    id,
    pointer,
    tool,
    entity,
    args: readArgs(fields.at("args"), reader),
    rows,
    retry: readRetry(fields.at("retry"), reader),
    timeoutMs: reader.duration(fields.at("timeout"), durationBounds.timeout) ?? defaultTimeoutMs,
    undo,
  };
}

function readUndo(node: Node, reader: ShapeReader, callEntity: string): UndoCall | undefined {
  const fields = reader.fields(node, ["call"], ["entity", "args", "retry", "timeout"]);
  const tool = fields && readTool(fields.at("call"), reader);
  if (fields === undefined || tool === undefined) return undefined;
  return {
    tool,
    entity: fields.has("entity") ? readEntity(fields.at("entity"), reader) : callEntity,
    args: readArgs(fields.at("args"), reader),
    retry: readRetry(fields.at("retry"), reader),
    timeoutMs: reader.duration(fields.at("timeout"), durationBounds.timeout) ?? defaultTimeoutMs,
    pointer: pointerOf(node.path),
  };
}

function readTool(node: Node, reader: ShapeReader): string | undefined {
  return reader.text(node, { max: 200, pattern: slugPattern, hint: slugHint });
}

/** An entity that cannot be one is "", whose account nobody is asked for. */
function readEntity(node: Node, reader: ShapeReader): string {
  return reader.text(node, { max: 200, hint: "write the entity whose account is used, 1 to 200 characters" }) ?? "";
}

function readArgs(node: Node, reader: ShapeReader): ValueTemplate {
  const none = { kind: "literal", value: {} } as const;
  if (node.value === undefined) return none;
  const args = isObject(node.value) ? readValue(node, reader.faults) : reader.object(node);
  if (args === undefined) return none;
  if ("kind" in args && (args.kind === "object" || args.kind === "literal")) return args as ValueTemplate;
  const message = "is a reference; arguments are named one by one";
  reader.faults.add("PROGRAM_MALFORMED", node.path, message, 'write {"<argument>": {"$ref": "path"}}');
  return none;
}

function readRetry(node: Node, reader: ShapeReader): Retry {
  const fields = node.value === undefined ? undefined : reader.fields(node, ["max"], ["initial", "factor", "cap"]);
  if (fields === undefined) return defaultRetry;
  return {
    max: reader.number(fields.at("max"), { min: 0, max: 10 }) ?? defaultRetry.max,
    initialMs: reader.duration(fields.at("initial"), durationBounds.retry) ?? defaultRetry.initialMs,
    factor: reader.number(fields.at("factor"), { min: 1, max: 10, isWhole: false }) ?? defaultRetry.factor,
    capMs: reader.duration(fields.at("cap"), durationBounds.retry) ?? defaultRetry.capMs,
  };
}

const fieldForm = { max: 200, pattern: /^[^.[\]{}\s"]+$/, hint: "write the name of a field of the items" };

function readRows(node: Node, reader: ShapeReader): RowsSpec | undefined {
  const fields = reader.fields(node, ["from", "keep"], ["key", "page"]);
  if (fields === undefined) return undefined;
  const from = readListPath(fields.at("from"), reader);
  const kept = reader.items(fields.at("keep"), { min: 1, max: 50 });
  const keep = kept?.flatMap((item) => reader.text(item, fieldForm) ?? []);
  const key = fields.has("key") ? reader.text(fields.at("key"), fieldForm) : undefined;
  const page = fields.has("page") ? readPage(fields.at("page"), reader) : undefined;
  if (keep !== undefined && new Set(keep).size < keep.length) {
    reader.faults.add("PROGRAM_MALFORMED", fields.at("keep").path, "names a field twice", "name each field once");
  }
  return from === undefined || keep === undefined ? undefined : { from, keep, key, page };
}

/** `items[]`: the path of a list, with the brackets that say so; `[]` alone is the answer itself. */
function readListPath(node: Node, reader: ShapeReader): Path | undefined {
  const hint = "write the path of the list and [], such as items[] or data.items[]";
  const text = reader.text(node, { max: 512, hint });
  if (text === undefined) return undefined;
  if (text === "[]") return [];
  const path = text.endsWith("[]") ? parsePath(text.slice(0, -2)) : undefined;
  if (path === undefined) reader.faults.add("PROGRAM_MALFORMED", node.path, "is not the path of a list", hint);
  return path;
}

function readPage(node: Node, reader: ShapeReader): RowsSpec["page"] {
  const fields = reader.fields(node, ["arg", "from", "max"], []);
  if (fields === undefined) return undefined;
  const arg = reader.text(fields.at("arg"), { max: 200 });
  const max = reader.number(fields.at("max"), { min: 1, max: 1000 });
  const text = reader.text(fields.at("from"), { max: 512 });
  const from = text === undefined ? undefined : parsePath(text);
  if (text !== undefined && from === undefined) {
    const hint = "write the path of the token in the answer, such as nextPageToken";
    reader.faults.add("PROGRAM_MALFORMED", fields.at("from").path, "is not a path", hint);
  }
  return arg === undefined || max === undefined || from === undefined ? undefined : { arg, from, max };
}
