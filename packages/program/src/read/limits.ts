import { defaultLimits, type Limits, limitBounds } from "../limits.ts";
import { durationSchema, type ObjectForm, wholeSchema } from "./form.ts";
import type { Node, ShapeReader } from "./shape.ts";

/** The form of `limits`. */
export const limitsForm: ObjectForm = {
  description: "What the job may use. Reaching one fails the step with LIMIT_REACHED.",
  required: {},
  optional: {
    deadline: durationSchema(
      "Time before the job expires, 1s to 30d; its clock stands still while a person is waited for. Default 24h.",
      "24h",
    ),
    toolCalls: wholeSchema(
      "Tool calls, repetitions included. 1 to 1,000,000. Default 10,000.",
      limitBounds.toolCalls,
      10_000,
    ),
    writes: wholeSchema("Calls that write. 0 to 1,000,000. Default 1,000.", limitBounds.writes, 1000),
    rows: wholeSchema("Rows. 1 to 1,000,000. Default 10,000.", limitBounds.rows, 10_000),
    asks: wholeSchema("Questions to people. 0 to 1,000. Default 20.", limitBounds.asks, 20),
    concurrency: wholeSchema("Calls at one time. 1 to 32. Default 8.", limitBounds.concurrency, 8),
  },
  examples: [{ deadline: "24h", toolCalls: 5000, writes: 500, rows: 20_000, asks: 10, concurrency: 8 }],
};

const counts = ["toolCalls", "writes", "rows", "asks", "concurrency"] as const;

/** Reads the limits of a job; the default of each that is not set. */
export function readLimits(node: Node, reader: ShapeReader): Limits {
  const fields = node.value === undefined ? undefined : reader.fields(node, limitsForm);
  if (fields === undefined) return defaultLimits;
  const limits = { ...defaultLimits };
  limits.deadlineMs = reader.duration(fields.at("deadline"), limitBounds.deadlineMs) ?? limits.deadlineMs;
  for (const name of counts) limits[name] = readCount(fields.at(name), name, reader) ?? limits[name];
  return limits;
}

function readCount(node: Node, name: (typeof counts)[number], reader: ShapeReader): number | undefined {
  const { value, path } = node;
  const { min, max } = limitBounds[name];
  if (typeof value !== "number") return reader.number(node, { min, max });
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  const hint = `write a whole number from ${min} to ${max}`;
  reader.faults.add("PROGRAM_LIMIT_INVALID", path, `is ${value}, out of its bounds`, hint);
  return undefined;
}
