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
  optional: { entity: ref("entity"), ...callOptions },
  examples: [
    {
      call: "messaging_bot.delete_message",
      entity: "ops",
      args: { chat_id: "@team", message_id: { $ref: "output.message_id" }, confirm: true },
    },
  ],
};

/** Reads how a call is undone: by the entity of the call when none is named. */
export function readUndo(node: Node, reader: ShapeReader, callEntity: string): UndoCall | undefined {
  const fields = reader.fields(node, undoForm);
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
