import { defaultRetry, durationBounds } from "../../limits.ts";
import { durationSchema, numberSchema, type ObjectForm, wholeSchema } from "../../read/form.ts";
import type { Node, ShapeReader } from "../../read/shape.ts";

/** How retryable outcomes are tried again: `max` times, waiting initialMs * factor^n, at most capMs. */
export type Retry = {
  readonly max: number;
  readonly initialMs: number;
  readonly factor: number;
  readonly capMs: number;
};

const bounds = { max: { min: 0, max: 10 }, factor: { min: 1, max: 10 } };

/** The form of `retry`. */
export const retryForm: ObjectForm = {
  description:
    "How retryable outcomes are tried again. Without it, nothing is. A write is tried again only where that cannot do it twice.",
  required: { max: wholeSchema("Most repetitions.", bounds.max, 4) },
  optional: {
    initial: durationSchema("Wait before the first repetition, 100ms to 1h. Default 1s.", "1s"),
    factor: numberSchema("What each wait is multiplied by. Default 2.", bounds.factor, 2),
    cap: durationSchema("Longest wait, 100ms to 1h. Default 60s, or initial where that is longer.", "60s"),
  },
  examples: [{ max: 4, initial: "1s", factor: 2, cap: "60s" }],
};

/** Reads how a call is tried again; not at all when nothing is said. */
export function readRetry(node: Node, reader: ShapeReader): Retry {
  const fields = node.value === undefined ? undefined : reader.fields(node, retryForm);
  if (fields === undefined) return defaultRetry;
  const initialMs = reader.duration(fields.at("initial"), durationBounds.retry) ?? defaultRetry.initialMs;
  const cap = fields.at("cap");
  const capMs = reader.duration(cap, durationBounds.retry) ?? Math.max(initialMs, defaultRetry.capMs);
  if (capMs < initialMs) {
    reader.faults.addYounger("PROGRAM_LIMIT_INVALID", cap.path, "is shorter than initial", "raise it to initial");
  }
  return {
    max: reader.number(fields.at("max"), bounds.max) ?? defaultRetry.max,
    initialMs,
    factor: reader.number(fields.at("factor"), { ...bounds.factor, isWhole: false }) ?? defaultRetry.factor,
    capMs,
  };
}
