import { pointerOf } from "../json.ts";
import type { Expression } from "../template.ts";
import type { Node, ShapeReader } from "./shape.ts";
import { conditionForm } from "./value-advice.ts";

/** Reads an expression. What is wrong with it beyond its form is checked later. */
export function readExpression(node: Node, reader: ShapeReader): Expression | undefined {
  const source = reader.text(node, { max: Number.MAX_SAFE_INTEGER, hint: conditionForm(node.value) });
  return source === undefined ? undefined : { source, pointer: pointerOf(node.path) };
}
