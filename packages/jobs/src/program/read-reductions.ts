import { formatValue } from "@svc/core";
import type { Reduction, RowState } from "./program.ts";
import { parsePath } from "./reference.ts";
import { idForm, type Node, type ShapeReader } from "./shape.ts";

const states = ["ok", "failed", "skipped", "unknown"] as const satisfies readonly RowState[];
const hint = "write count, count ok (or failed, skipped, unknown), or sum, min, max or avg and a field";

/** Reads the numbers that a reduce makes, by name. */
export function readReductions(node: Node, reader: ShapeReader): (readonly [string, Reduction])[] {
  const object = reader.object(node);
  if (object !== undefined && Object.keys(object).length === 0) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, "names no number", `add one: ${hint}`);
  }
  return Object.entries(object ?? {}).flatMap(([name, value]) => {
    const path = [...node.path, name];
    if (!idForm.pattern.test(name)) {
      reader.faults.add("PROGRAM_MALFORMED", path, `is named ${formatValue(name)}`, idForm.hint);
    }
    const text = reader.text({ value, path }, { max: 200, hint });
    const reduction = text === undefined ? undefined : parseReduction(text);
    if (text !== undefined && reduction === undefined) {
      reader.faults.add("PROGRAM_MALFORMED", path, `is ${formatValue(text)}, which is no such number`, hint);
    }
    return reduction === undefined ? [] : [[name, reduction] as const];
  });
}

function parseReduction(text: string): Reduction | undefined {
  const [kind, operand, ...others] = text.split(" ");
  if (others.length > 0) return undefined;
  if (kind === "count") {
    const state = states.find((name) => name === operand);
    return operand === undefined || state !== undefined ? { kind, state } : undefined;
  }
  if (kind !== "sum" && kind !== "min" && kind !== "max" && kind !== "avg") return undefined;
  const field = operand === undefined ? undefined : parsePath(operand);
  return field === undefined || typeof field[0] !== "string" ? undefined : { kind, field };
}
