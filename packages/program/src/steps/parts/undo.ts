import { isObject } from "@svc/core";
import type { Check } from "../../check/context.ts";
import { pointerOf } from "../../json.ts";
import { type ObjectForm, ref } from "../../read/form.ts";
import type { Node, ShapeReader } from "../../read/shape.ts";
import type { ValueType } from "../../types/schema-type.ts";
import type { Scope } from "../../types/scope.ts";
import { callOptions, checkToolCall, readEntity, readToolCall, type StepCall, type UndoCall } from "./tool-call.ts";

/** The form of `undo`. */
export const undoForm: ObjectForm = {
  description:
    "The call that takes a call back, run by the saga in reverse order. Its arguments may name output, the answer of the call that is undone.",
  required: { call: ref("tool") },
  optional: { entity: ref("entity"), args: callOptions.args },
  examples: [
    {
      call: "messaging_bot.delete_message",
      entity: "ops",
      args: { chat_id: "@team", message_id: { $ref: "output.message_id" }, confirm: true },
    },
  ],
};

/** What programs in the store may say of an undo. It was never heeded: every undo is tried alike. */
const unheeded = ["retry", "timeout"];

/** Reads how a call is undone: by the entity of the call when none is named. */
export function readUndo(node: Node, reader: ShapeReader, callEntity: string): UndoCall | undefined {
  const { value } = node;
  const named = isObject(value) ? unheeded.filter((name) => Object.hasOwn(value, name)) : [];
  for (const name of named) {
    const message = "has no effect: an undo is tried up to three times, each for up to 30 s";
    reader.faults.addYounger("PROGRAM_MALFORMED", [...node.path, name], message, "leave it out");
  }
  const heeded = isObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !named.includes(name)))
    : value;
  const fields = reader.fields({ ...node, value: heeded as Node["value"] }, undoForm);
  const call = fields && readToolCall(fields, pointerOf(node.path), reader);
  if (fields === undefined || call === undefined) return undefined;
  const entity = fields.has("entity") ? readEntity(fields.at("entity"), reader) : callEntity;
  return { ...call, entity };
}

/** Checks how a call is undone. `output` is the type of the answer that is taken back. */
export function checkUndo(call: StepCall, undo: UndoCall, output: ValueType, scope: Scope, check: Check): void {
  const calls = scope.calls && new Map([...scope.calls, [call.id, { type: output, maySkip: false }] as const]);
  checkToolCall(undo, [], { ...scope, calls, output: { type: output } }, check);
}
