import type { PollCursorDocument } from "@svc/catalog";
import { formatValue, isObject } from "@svc/core";
import type { JsonObject, JsonValue, ShapeNode, ShapeReader } from "@svc/program";
import { bounds, cursorForm, firstForm, pollForm } from "../definition/forms.ts";
import type { Poll, PollFirst } from "./definition.ts";

/** Maximum number of fields that a poll of a tool's list keeps of each found row. */
const keptMax = 100;

/**
 * Reads the part of a schedule's definition that declares a poll (regular call of a tool that finds new rows). Records its faults. Returns
 * undefined if there are any.
 */
export function readPoll(node: ShapeNode, reader: ShapeReader): Poll | undefined {
  const before = reader.faults.count;
  const fields = reader.fields(node, pollForm);
  if (fields === undefined) return undefined;
  const call = reader.text(fields.at("call"), { max: 200, hint: "write the slug of a tool that reads a list" });
  const entity = reader.text(fields.at("entity"), {
    max: 200,
    hint: "write the entity whose account of the app is used",
  });
  const args = fields.has("args") ? reader.object(fields.at("args"), { status: "open" }) : {};
  const everyMs = reader.duration(fields.at("every"), bounds.every);
  if (args !== undefined) checkConstants(args, fields.at("args").path, reader);
  const poll = {
    first: readFirst(fields.at("first"), reader),
    on: reader.oneOf(fields.at("on"), ["new", "changed"]) ?? "new",
    per: reader.oneOf(fields.at("per"), ["poll", "row"]) ?? "poll",
    keep: readKeep(fields.at("keep"), reader),
    rows: reader.text(fields.at("rows"), {
      max: 512,
      pattern: /\[\]$/,
      hint: "write the path of the list in the answer, such as items[]",
    }),
    id: reader.text(fields.at("id"), { max: 512, hint: "write the path of a row's id, such as id" }),
    size: reader.text(fields.at("size"), { max: 200, hint: "write the argument for the number of rows" }),
    cursor: readCursor(fields.at("cursor"), reader),
  };
  const isWhole = call !== undefined && entity !== undefined && args !== undefined && everyMs !== undefined;
  return isWhole && reader.faults.count === before ? { call, entity, args, everyMs, ...poll } : undefined;
}

function readFirst(node: ShapeNode, reader: ShapeReader): PollFirst {
  if (node.value === undefined) return "skip";
  if (!isObject(node.value)) return reader.oneOf(node, ["skip", "all"] as const) ?? "skip";
  const last = reader.fields(node, firstForm)?.at("last");
  const count = last === undefined ? undefined : reader.number(last, bounds.last);
  return count === undefined ? "skip" : { last: count };
}

function readKeep(node: ShapeNode, reader: ShapeReader): readonly string[] | undefined {
  if (node.value === undefined) return undefined;
  const names = reader.items(node, { min: 1, max: keptMax })?.flatMap((item) => reader.text(item, { max: 200 }) ?? []);
  if (names !== undefined && new Set(names).size < names.length) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, "names a field twice", "name each field once");
  }
  return names;
}

const kinds = ["seen", "after", "newest", "token"] as const;

function readCursor(node: ShapeNode, reader: ShapeReader): PollCursorDocument | undefined {
  if (node.value === undefined) return undefined;
  const fields = reader.fields(node, cursorForm);
  const kind = fields && reader.oneOf(fields.at("kind"), kinds);
  if (fields === undefined || kind === undefined) return undefined;
  const text = (name: string) => reader.text(fields.at(name), { max: 512 });
  const [arg, from, overlap, more] = ["arg", "from", "overlap", "more"].map(text);
  const step = reader.number(fields.at("step"), bounds.step);
  const args = fields.has("args") ? reader.object(fields.at("args"), { sort: "-created" }) : undefined;
  return {
    kind,
    ...(arg !== undefined && { arg }),
    ...(from !== undefined && { from }),
    ...(overlap !== undefined && { overlap }),
    ...(step !== undefined && { step }),
    ...(more !== undefined && { more }),
    ...(args !== undefined && { args }),
  };
}

const computed = ["$ref", "$text", "$cel", "$secret", "$literal"];

/**
 * Records a fault for each reference in the arguments of a poll. The arguments must be constants, because every poll uses the same
 * arguments.
 */
function checkConstants(value: JsonValue, path: ShapeNode["path"], reader: ShapeReader): void {
  if (Array.isArray(value)) {
    for (const [index, item] of (value as readonly JsonValue[]).entries())
      checkConstants(item, [...path, index], reader);
    return;
  }
  if (!isObject(value)) return;
  const object = value as JsonObject;
  const name = computed.find((one) => Object.hasOwn(object, one));
  if (name !== undefined) {
    const message = `has ${formatValue(name)}, but the arguments of a poll must be constant`;
    reader.faults.add("PROGRAM_MALFORMED", path, message, 'write the value itself, such as "open"');
    return;
  }
  for (const [key, item] of Object.entries(object)) checkConstants(item, [...path, key], reader);
}
