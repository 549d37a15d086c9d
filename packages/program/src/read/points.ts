import type { JsonSchema } from "@svc/catalog";
import { formatValue, isObject } from "@svc/core";
import { pointerOf } from "../json.ts";
import { durationBounds } from "../limits.ts";
import type { Continuation, Hop, Overrides, OverrideTarget, Point } from "../point.ts";
import { durationSchema, type ObjectForm, ref, schemaOf } from "./form.ts";
import { hopCount, principalSchema, readPrincipal } from "./ladder.ts";
import { idForm, nameSchema } from "./name.ts";
import { checkSchemaDocument } from "./schema-document.ts";
import type { ShapeFields, ShapeNode, ShapeReader } from "./shape.ts";
import { readText } from "./value.ts";

/** The required and optional fields of `overrides` in a judgment point (question to people), with their schemas. */
const overridesForm: ObjectForm = {
  description: "The target that a retry-with answer changes.",
  required: {
    target: {
      description: "params, or steps.<id>.args for the arguments of one call.",
      type: "string",
      pattern: String.raw`^(params|steps\.[A-Za-z]\w{0,63}\.args)$`,
      examples: ["params"],
    },
  },
  optional: {
    rerunFrom: nameSchema("The step that a judge step goes back to. No write may be between the two.", "open"),
  },
  examples: [{ target: "params", rerunFrom: "open" }],
};

/**
 * Reads the field `overrides` of a judgment point: which params or arguments an answer may change. Returns undefined if its field `target`
 * is not valid.
 */
function readOverrides(node: ShapeNode, reader: ShapeReader): Overrides | undefined {
  const fields = reader.fields(node, overridesForm);
  if (fields === undefined) return undefined;
  const hint = "write params, or steps.<id>.args for the arguments of one call";
  const text = reader.text(fields.at("target"), { max: 200, hint });
  const target = text === undefined ? undefined : parseTarget(text);
  if (text !== undefined && target === undefined) {
    reader.faults.add("PROGRAM_MALFORMED", fields.at("target").path, `is ${formatValue(text)}`, hint);
  }
  const rerunFrom = fields.has("rerunFrom") ? reader.text(fields.at("rerunFrom"), idForm) : undefined;
  return target && { target, rerunFrom };
}

function parseTarget(text: string): OverrideTarget | undefined {
  if (text === "params") return { kind: "params" };
  const step = /^steps\.([A-Za-z]\w{0,63})\.args$/.exec(text)?.[1];
  return step === undefined ? undefined : { kind: "args", step };
}

/**
 * Reads the field `answerSchema` of a judgment point: the schema that the values of a `retry-with` answer must satisfy. Returns undefined
 * if the schema is absent or faulty.
 */
function readAnswerSchema(node: ShapeNode, reader: ShapeReader): JsonSchema | undefined {
  if (node.value === undefined) return undefined;
  if (!checkSchemaDocument(node, reader.faults, "PROGRAM_POINT_INVALID")) return undefined;
  const schema = node.value as JsonSchema;
  if (schema.additionalProperties !== false) {
    const hint = 'add "additionalProperties": false';
    reader.faults.add(
      "PROGRAM_POINT_INVALID",
      node.path,
      "lets an answer contain names that the target does not have",
      hint,
    );
  }
  return schema;
}

/**
 * The JSON Schema of the field `answerSchema` of a judgment point (a question to people). This field contains the schema that a
 * `retry-with` answer must satisfy.
 */
const answerSchema: JsonSchema = {
  ...ref("schema"),
  description: "Form of a retry-with answer, closed with additionalProperties: false.",
  examples: [{ type: "object", additionalProperties: false, properties: { minGuests: { type: "number" } } }],
};

/** The required and optional fields of a hop (stage of an escalation), with their schemas. */
const hopForm: ObjectForm = {
  description: "One contact that svc asks.",
  required: { principal: principalSchema("lead") },
  optional: {
    timeout: durationSchema(
      "Time before svc asks the next contact, 1m to 30d. Only the last hop may have none: then the question stays with that contact.",
      "4h",
    ),
  },
  examples: [{ principal: "lead", timeout: "4h" }],
};

/** Maximum number of judgment points (questions to people) that a program may declare. */
const programPointsMax = 100;

const continuations = ["proceed", "retry-with", "skip", "abort"] as const satisfies readonly Continuation[];
const continuationCount = { min: 1, max: continuations.length };
const questionMax = 2000;

/** Ids that svc uses for its own questions. A program may not use them. */
const ownIds = ["approval", "in_doubt", "undo_stuck"];

const defaultForm: ObjectForm = {
  description: "The answer that svc uses when the last hop has timed out. Without it the question stays open.",
  required: {
    continuation: { description: "One of continuations.", enum: continuations, examples: ["abort"] },
  },
  optional: {},
  examples: [{ continuation: "abort" }],
};

/**
 * Descriptions of the continuations (the ways in which a job can continue after an answer). docs/reference/program/points.md has the same
 * texts.
 */
const continuationTexts = [
  "proceed: at a judge the job continues; failed rows are accepted as failed, unknown ones count as done.",
  "retry-with: the overrides are applied; at a judge the job goes back to rerunFrom, failed rows continue at their first call that did not end well, unknown ones only if the tool takes an idempotency key.",
  "skip: at a judge the job skips exactly the next step, which must be a call, http, map, run, if, until or parallel, and runs the steps after it; failed and unknown rows are marked skipped.",
  "abort: everywhere the job undoes all calls that the saga covers, and ends as aborted.",
].join(" ");

/**
 * Fields of a judgment point (question to people) that are allowed only with an escalation (a list of contacts whom svc asks in turn). An
 * approval gate (a question that an approver answers with yes or no) does not have these fields.
 */
const ladderFields = {
  continuations: {
    description: `Possible answers. ${continuationTexts}`,
    type: "array",
    minItems: continuationCount.min,
    maxItems: continuationCount.max,
    uniqueItems: true,
    items: { description: "One continuation.", enum: continuations, examples: ["proceed"] },
    examples: [["proceed", "retry-with", "abort"]],
  },
  overrides: schemaOf(overridesForm),
  answerSchema,
  escalation: {
    description: "The ladder: 1 to 5 contacts, asked one after the other.",
    type: "array",
    minItems: hopCount.min,
    maxItems: hopCount.max,
    items: ref("hop"),
    examples: [[{ principal: "lead", timeout: "4h" }, { principal: "head" }]],
  },
  default: schemaOf(defaultForm),
};

const requiredOfLadder = ["continuations", "escalation"];

/** Example of a judgment point (a question that steps may ask people). Hints show this example to the author of a program. */
export const pointExample =
  '{"question": "{rows.open} would go out. Continue?", "continuations": ["proceed", "abort"], "escalation": [{"principal": "owner"}]}';

const pointForm: ObjectForm = {
  description: "A question that steps may ask people.",
  required: {
    question: {
      description: "The question, 1 to 2,000 characters; {path} takes a value, {{ is a brace.",
      type: "string",
      minLength: 1,
      maxLength: questionMax,
      examples: ["{rows.open} reminders would go out. Continue?"],
    },
  },
  optional: {
    approval: {
      description:
        "True for an approval gate: svc asks the approvers, who answer proceed or abort, without a deadline. It declares only its question.",
      type: "boolean",
      examples: [true],
    },
    ...ladderFields,
  },
  rules: {
    if: { required: ["approval"], properties: { approval: { const: true } } },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema has the keyword, and nobody awaits a schema.
    then: { properties: Object.fromEntries(Object.keys(ladderFields).map((name) => [name, false])) },
    else: { required: requiredOfLadder },
  },
  examples: [
    {
      question: "Some reminders failed.",
      continuations: ["retry-with", "skip", "abort"],
      escalation: [{ principal: "lead" }],
    },
  ],
};

/**
 * Definitions for the JSON Schema of `points` (the questions to people in a program). `point`: one question. `hop`: one stage of its
 * escalation.
 */
export const pointDefinitions: Readonly<Record<string, JsonSchema>> = {
  hop: schemaOf(hopForm),
  point: schemaOf(pointForm),
};

/** The JSON Schema of `points`, the questions to people in a program. */
export const pointsSchema: JsonSchema = {
  description: "Questions by name. approval, in_doubt and undo_stuck are reserved names of svc.",
  type: "object",
  maxProperties: programPointsMax,
  propertyNames: { pattern: idForm.pattern.source, not: { enum: ownIds } },
  additionalProperties: ref("point"),
  examples: [
    { many: { question: "Continue?", continuations: ["proceed", "abort"], escalation: [{ principal: "lead" }] } },
  ],
};

/** Reads all judgment points (questions to people) of a program, by id. The ids of points that cannot be read are added to `leftOut`. */
export function readPoints(node: ShapeNode, reader: ShapeReader, leftOut: Set<string>): Map<string, Point> {
  const points = new Map<string, Point>();
  const count = Object.keys(isObject(node.value) ? node.value : {}).length;
  if (count > programPointsMax) {
    const message = `has ${count} points; at most ${programPointsMax} are allowed`;
    reader.faults.add("PROGRAM_TOO_LARGE", node.path, message, "let steps share points");
  }
  for (const [id, value] of Object.entries(reader.object(node) ?? {}).slice(0, programPointsMax)) {
    const at: ShapeNode = { value, path: [...node.path, id] };
    if (!idForm.pattern.test(id)) {
      reader.faults.add("PROGRAM_MALFORMED", at.path, `is named ${formatValue(id)}`, idForm.hint);
    }
    if (ownIds.includes(id)) {
      reader.faults.add("PROGRAM_POINT_INVALID", at.path, `is named ${id}, a reserved name of svc`, "rename it");
    }
    const point = readPoint(id, at, reader);
    if (point === undefined) leftOut.add(id);
    else points.set(id, point);
  }
  return points;
}

function readPoint(id: string, node: ShapeNode, reader: ShapeReader): Point | undefined {
  const fields = reader.fields(node, pointForm);
  if (fields === undefined) return undefined;
  const text = reader.text(fields.at("question"), { max: questionMax });
  const question = text === undefined ? undefined : readText(text, fields.at("question").path, reader.faults);
  const isApproval = (fields.has("approval") && reader.flag(fields.at("approval"))) || false;
  const base = { id, pointer: pointerOf(node.path), question: question ?? { kind: "text", parts: [] } } as const;
  if (isApproval) return readGate(base, fields, reader);
  for (const name of requiredOfLadder) {
    if (!fields.has(name))
      reader.faults.add("PROGRAM_MALFORMED", node.path, `lacks ${name}`, `add ${name}, as in ${pointExample}`);
  }
  return {
    ...base,
    isApproval,
    continuations: readContinuations(fields.at("continuations"), reader),
    overrides: fields.has("overrides") ? readOverrides(fields.at("overrides"), reader) : undefined,
    answerSchema: readAnswerSchema(fields.at("answerSchema"), reader),
    escalation: readLadder(fields.at("escalation"), reader),
    defaultContinuation: fields.has("default") ? readDefault(fields.at("default"), reader) : undefined,
  };
}

/** Reads an approval gate: a question to which only an approver can answer. Apart from its text, such a question declares nothing. */
function readGate(base: Pick<Point, "id" | "pointer" | "question">, fields: ShapeFields, reader: ShapeReader): Point {
  for (const name of Object.keys(ladderFields)) {
    if (!fields.has(name)) continue;
    const message = "is not allowed in an approval gate: approvers answer proceed or abort, without a deadline";
    reader.faults.add("PROGRAM_POINT_INVALID", fields.at(name).path, message, `remove ${name}`);
  }
  return {
    ...base,
    isApproval: true,
    continuations: ["proceed", "abort"],
    overrides: undefined,
    answerSchema: undefined,
    escalation: [],
    defaultContinuation: undefined,
  };
}

function readContinuations(node: ShapeNode, reader: ShapeReader): Continuation[] {
  const items = node.value === undefined ? undefined : reader.items(node, continuationCount);
  const read = (items ?? []).flatMap((item) => reader.oneOf<Continuation>(item, continuations) ?? []);
  if (new Set(read).size < read.length) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, "names a continuation twice", "name each once");
  }
  return read;
}

function readDefault(node: ShapeNode, reader: ShapeReader): Continuation | undefined {
  const field = reader.fields(node, defaultForm)?.at("continuation");
  return field && reader.oneOf<Continuation>(field, continuations);
}

/** Reads the hops (stages) of a question's escalation. Returns an empty list if there are none. */
function readLadder(node: ShapeNode, reader: ShapeReader): Hop[] {
  const items = node.value === undefined ? undefined : reader.items(node, hopCount);
  return (items ?? []).map((item) => {
    const fields = reader.fields(item, hopForm);
    const timeoutMs = fields && reader.duration(fields.at("timeout"), durationBounds.hop);
    return { principal: readPrincipal(fields, reader), timeoutMs };
  });
}
