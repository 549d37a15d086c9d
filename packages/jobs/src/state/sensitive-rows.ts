import { holdsSensitivePlace, isSensitiveAt, type JsonSchema, placeAlong } from "@svc/catalog";
import { isCall, pathsNamed, type Reduction, type StepOf } from "@svc/program";
import type { LoadedProgram } from "./job.ts";

type Path = readonly (string | number)[];

/** A program and its tools. The tools' schemas say which parts of the program's rows are sensitive. */
type RowProgram = Pick<LoadedProgram, "program" | "flow" | "tools">;

/**
 * True if a value that is computed from many rows (for example `sum amount`) reveals sensitive data. `setId`: id of the step that made the
 * rows.
 */
export function isSensitiveValue(rows: RowProgram, setId: string, reduction: Reduction): boolean {
  if (reduction.kind === "count") return false;
  if (reduction.kind !== "text") return isSensitiveField(rows, setId, reduction.field);
  return reduction.of.parts.some((part) => {
    return typeof part !== "string" && part.root === "row" && isSensitiveField(rows, setId, part.path);
  });
}

/**
 * True if a field of a set's rows is sensitive or contains sensitive data. The schema of the answer or input that the field was taken from
 * decides this.
 */
export function isSensitiveField(rows: RowProgram, setId: string, field: Path): boolean {
  const instruction = rows.flow.instructions[rows.flow.indexOf.get(setId) ?? -1];
  const step = instruction?.kind === "step" ? instruction.step : undefined;
  const [name, ...rest] = field;
  switch (step?.kind) {
    case "call":
      return step.rows !== undefined && isSensitiveAnswer(rows, step.tool, [...step.rows.from, 0, ...field]);
    case "take":
      return isSensitive(rows.program.inputSchema, [...step.list, 0, ...field]);
    case "filter":
    case "sort":
    case "limit":
    case "distinct":
      return isSensitiveField(rows, step.source, field);
    case "map":
      return isSensitiveInMap(rows, step, field);
    case "join": {
      const kept = step.keep.find(([known]) => known === name)?.[1];
      return isSensitiveField(rows, kept === undefined ? step.source : step.right, kept ? [...kept, ...rest] : field);
    }
    case "flatten": {
      const kept = step.keep.find(([known]) => known === name)?.[1];
      return isSensitiveField(rows, step.source, kept === undefined ? field : [step.field, 0, ...kept, ...rest]);
    }
    case "group": {
      const reduction = step.as.find(([known]) => known === name)?.[1];
      if (reduction !== undefined) return isSensitiveValue(rows, step.source, reduction);
      return isSensitiveField(rows, step.source, field);
    }
    case "compute":
      return isSensitiveComputed(rows, step, field);
    default:
      return false;
  }
}

/**
 * True if a field of the rows that a `map` step makes is sensitive. The field comes from the answer of a call, or from the row that the
 * step read.
 */
function isSensitiveInMap(rows: RowProgram, { source, keep, calls }: StepOf<"map">, field: Path): boolean {
  const [name, ...rest] = field;
  const [callId, ...path] = keep.find(([known]) => known === name)?.[1] ?? [];
  if (callId === undefined) return isSensitiveField(rows, source, field);
  const call = calls.find(({ id }) => id === callId);
  // The values of a skill's result are never sensitive, because sensitive values in it were already replaced by `***`.
  return call !== undefined && isCall(call) && isSensitiveAnswer(rows, call.tool, [...path, ...rest]);
}

/** True if a computed field is sensitive. It is sensitive if its expression uses a sensitive name. */
function isSensitiveComputed(rows: RowProgram, { source, fields }: StepOf<"compute">, field: Path): boolean {
  const expression = fields.find(([known]) => known === field[0])?.[1];
  if (expression === undefined) return isSensitiveField(rows, source, field);
  return pathsNamed(expression.source).some(({ root, path }) => {
    if (root === "row") return isSensitiveField(rows, source, path);
    return root === "input" && isSensitive(rows.program.inputSchema, path);
  });
}

function isSensitiveAnswer({ tools }: RowProgram, tool: string, path: Path): boolean {
  return isSensitive(tools.get(tool)?.action.outputSchema, path);
}

function isSensitive(schema: JsonSchema | undefined, path: Path): boolean {
  return schema !== undefined && (isSensitiveAt(schema, path) || holdsSensitivePlace(placeAlong(schema, path)));
}
