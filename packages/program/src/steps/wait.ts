import { formatDuration, formatValue, isObject, readTime } from "@svc/core";
import { fillConstants } from "../check/constants.ts";
import type { Check } from "../check/context.ts";
import { computedType } from "../check/expression.ts";
import { checkReferences } from "../check/references.ts";
import { type JsonObject, type Path, pathOf } from "../json.ts";
import { beyondDeadline, durationBounds, type Limits } from "../limits.ts";
import { durationSchema, type ObjectForm, ref, schemaOf } from "../read/form.ts";
import type { ShapeNode, ShapeReader } from "../read/shape.ts";
import { readValue } from "../read/value.ts";
import type { Expression, Reference, ValueTemplate } from "../template.ts";
import { typesOf } from "../types/schema-type.ts";
import { nothing, resolveType, type Scope } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { noUse } from "./use.ts";

/** Step kind `wait`: waits for a time span, or until a given time. */
export type WaitStep = AnyStep & {
  readonly kind: "wait";
  readonly wait: { readonly forMs: number } | { readonly until: ValueTemplate };
};

const untilForm: ObjectForm = {
  description:
    "A time as a timestamp (RFC 3339): constant, referenced or computed. A duration such as 2d is not a time: write it in wait itself. A time in the past needs no wait.",
  required: { until: ref("value") },
  optional: {},
  examples: [{ until: "2026-05-01T09:00:00Z" }, { until: { $cel: "now + duration('24h')" } }],
};

const form: ObjectForm = {
  description:
    "Waits for a duration, or until a time. If the time is after the deadline of the job, the step fails at once, with WAIT_BEYOND_DEADLINE.",
  required: {
    wait: {
      description:
        "Duration, 1s to 30d and no longer than the deadline; or the time until which the step waits, RFC 3339.",
      anyOf: [durationSchema("A duration.", "10m"), schemaOf(untilForm)],
      examples: ["10m", { until: { $ref: "input.start" } }],
    },
  },
  optional: {},
  examples: [{ id: "pause", wait: "10m" }],
};

/** Definition of the step kind `wait`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions. */
export const waitLanguage: StepLanguage<WaitStep> = {
  form,
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: undefined, row: undefined },

  read(base, fields, { reader, limits }) {
    const node = fields.at("wait");
    const span = isObject(node.value) ? spanOf(node.value) : undefined;
    if (span !== undefined) {
      const hint = `write ${JSON.stringify(span)}`;
      reader.faults.add("PROGRAM_MALFORMED", node.path, `is ${formatValue(node.value)}, not a duration`, hint);
      return undefined;
    }
    const filled = isObject(node.value) ? filledOf(node.value) : undefined;
    if (filled !== undefined) {
      reader.faults.add(
        "PROGRAM_MALFORMED",
        node.path,
        "has a reference, but a duration here must be constant",
        filled,
      );
      return undefined;
    }
    const wait = isObject(node.value) ? readUntil(node, reader) : readSpan(node, limits, reader);
    return wait && { kind: "wait", ...base, wait };
  },

  check({ wait, pointer }, { scope, check }) {
    if ("until" in wait) checkUntil(wait.until, [...pathOf(pointer), "wait", "until"], scope, check.faults);
    return { own: nothing, inner: [] };
  },

  title: ({ wait }) => ("until" in wait ? "Wait until a time" : `Wait ${formatDuration(wait.forMs)}`),
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
};

/**
 * Returns the duration text (such as `5m`) for a duration that an author wrote as an object (such as `{"minutes": 5}`). Returns undefined
 * for any other object. Used in a hint.
 */
function spanOf(value: JsonObject): string | undefined {
  const [[unit = "", count] = [], ...others] = Object.entries(value);
  const isSpan = others.length === 0 && typeof count === "number" && Number.isInteger(count) && count > 0;
  const letter = /^(second|minute|hour|day)s?$/i.exec(unit)?.[1]?.[0]?.toLowerCase();
  return isSpan && letter !== undefined ? `${count}${letter}` : undefined;
}

/**
 * Returns advice on how to write a wait whose duration or time comes from a reference or an expression. Returns undefined if the value is a
 * constant, for which this advice is not needed.
 */
function filledOf({ $ref, $cel, $text }: JsonObject): string | undefined {
  const source = typeof $ref === "string" ? $ref : typeof $cel === "string" ? $cel : undefined;
  if (source === undefined && $text === undefined) return undefined;
  const span = JSON.stringify({ until: { $cel: `now + duration(${source ?? "input.span"})` } });
  const time = source === undefined ? { $ref: "input.at" } : typeof $ref === "string" ? { $ref } : { $cel: source };
  return `write ${span} for a duration such as "90m", in hours, minutes and seconds, or ${JSON.stringify({ until: time })} for a time`;
}

function readSpan(node: ShapeNode, limits: Limits, reader: ShapeReader): WaitStep["wait"] | undefined {
  const forMs = reader.duration(node, durationBounds.wait);
  if (forMs === undefined) return undefined;
  if (forMs > limits.deadlineMs) {
    const [message, hint] = beyondDeadline(forMs, limits.deadlineMs);
    reader.faults.add("PROGRAM_LIMIT_INVALID", node.path, message, hint);
  }
  return { forMs };
}

function readUntil(node: ShapeNode, reader: ShapeReader): WaitStep["wait"] | undefined {
  const field = reader.fields(node, untilForm)?.at("until");
  const until = field && readValue(field, reader.faults);
  return until && { until };
}

function checkUntil(until: ValueTemplate, path: Path, scope: Scope, faults: Check["faults"]): void {
  const before = faults.count;
  checkReferences(until, path, scope, faults);
  if (until.kind === "reference") checkTimeType(until.reference, path, scope, faults);
  if (until.kind === "computed") checkComputedTime(until.expression, path, scope, faults);
  if (until.kind === "reference" || until.kind === "text" || until.kind === "computed") {
    const { template } = fillConstants(until, scope);
    const isFaulty = template.kind === "literal" && !isTime(template) && faults.count === before;
    if (isFaulty) faults.addYounger("PROGRAM_MALFORMED", path, "is a constant, but not a time", timeHint);
  } else if (!isTime(until)) {
    // Version 0.1 accepted days that do not exist (30 February), and the time 24:00. So any text of this form is accepted in stored
    // programs.
    const isForm = until.kind === "literal" && typeof until.value === "string" && timestampPattern.test(until.value);
    faults[isForm ? "addYounger" : "add"]("PROGRAM_MALFORMED", path, "is not a time", timeHint);
  }
}

const timeHint =
  'write a time such as "2026-05-01T09:00:00Z", a $ref to one, or {"$cel": "now + duration(\'24h\')"}; to wait for a duration, write "wait": "2d"';

function isTime(until: ValueTemplate): boolean {
  return until.kind === "literal" && typeof until.value === "string" && readTime(until.value) !== undefined;
}

function checkTimeType(reference: Reference, path: Path, scope: Scope, faults: Check["faults"]): void {
  const found = resolveType(scope, reference);
  const types = "fault" in found ? undefined : typesOf(found.type);
  if (types === undefined || types.has("string")) return;
  const message = `${reference.text}: is ${[...types].join(" or ")}, not a time`;
  faults.add("PROGRAM_REFERENCE_INVALID", path, message, "name a text such as 2026-05-01T09:00:00Z");
}

function checkComputedTime(expression: Expression, path: Path, scope: Scope, faults: Check["faults"]): void {
  const types = typesOf(computedType(expression, scope));
  if (types === undefined || types.has("string")) return;
  const message = `is ${[...types].join(" or ")}, not a time`;
  faults.add("PROGRAM_EXPRESSION_INVALID", path, message, "compute a time, such as now + duration('24h')");
}

const timestampPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i;
