import { fillInput, type JsonSchema } from "@svc/catalog";
import { formatValue, isObject, scalarText } from "@svc/core";
import { createFaultList, type FaultList, type ProgramFault } from "../faults.ts";
import type { JsonObject } from "../json.ts";
import { defaultLimits, type Limits, limitBounds } from "../limits.ts";
import type { Approval, PlanApproval, Program, SagaEnd } from "../program.ts";
import type { DeclaredResult, ValueTemplate } from "../template.ts";
import { type ObjectForm, ref, schemaOf } from "./form.ts";
import { parseJsonText } from "./json-text.ts";
import { hopCount, principalSchema, readPrincipal } from "./ladder.ts";
import { limitsForm } from "./limits.ts";
import { pointsSchema, readPoints } from "./points.ts";
import { parsePath, referenceRoots } from "./reference.ts";
import { checkSchemaDocument } from "./schema-document.ts";
import { createShapeReader, type ShapeNode, type ShapeReader } from "./shape.ts";
import { readSteps } from "./steps.ts";
import { lookForPlaces, readValue } from "./value.ts";

/** Reads the result that a program declares: scalar values by name, in the declared order. Empty if the program declares none. */
function readResult(node: ShapeNode, reader: ShapeReader): DeclaredResult {
  return Object.entries(reader.object(node, { sent: { $ref: "steps.sum.sent" } }) ?? {}).flatMap(([name, value]) => {
    const path = [...node.path, name];
    if (typeof value === "string" && isPath(value)) {
      const message = `is the text ${formatValue(value)}, and the result would contain this text unchanged`;
      const hint = `write {"$ref": ${JSON.stringify(value)}}; if you mean the text itself, {"$literal": "…"}`;
      reader.faults.addYounger("PROGRAM_TEMPLATE_LITERAL", path, message, hint);
    }
    const template = readValue({ value, path }, reader.faults);
    if (template === undefined) return [];
    if (isScalar(template)) return [[name, template] as const];
    reader.faults.add("PROGRAM_MALFORMED", path, "is not a scalar", "name a text, number, true, false or null");
    return [];
  });
}

/** True if a text consists of a single path. */
function isPath(text: string): boolean {
  const [root, ...path] = parsePath(text) ?? [];
  return typeof root === "string" && referenceRoots.has(root) && path.length > 0;
}

function isScalar(template: ValueTemplate): boolean {
  if (template.kind === "literal") return template.value === null || scalarText(template.value) !== undefined;
  return template.kind !== "object" && template.kind !== "list";
}

const ends = ["failed", "aborted", "cancelled"] as const satisfies readonly SagaEnd[];
const endCount = { min: 1, max: ends.length };

/** The required and optional fields of `saga` (the rules for undoing calls), with their schemas. */
const sagaForm: ObjectForm = {
  description: "Undoes the job's calls, in reverse order, when the job ends in one of the named ways.",
  required: {
    on: {
      description: "The ends.",
      type: "array",
      minItems: endCount.min,
      maxItems: endCount.max,
      uniqueItems: true,
      items: { description: "One end.", enum: ends, examples: ["failed"] },
      examples: [ends],
    },
  },
  optional: {},
  examples: [{ on: ["failed", "aborted"] }],
};

/**
 * Reads the field `saga.on` of a program. It lists the results of a job (such as `failed`) after which svc undoes the job's calls. Returns
 * the list, or an empty list if the program has no saga.
 */
function readSaga(node: ShapeNode, reader: ShapeReader): readonly SagaEnd[] {
  const fields = node.value === undefined ? undefined : reader.fields(node, sagaForm);
  const items = fields?.has("on") ? reader.items(fields.at("on"), endCount) : undefined;
  const named = (items ?? []).flatMap((item) => reader.oneOf<SagaEnd>(item, ends) ?? []);
  if (new Set(named).size < named.length) {
    reader.faults.add("PROGRAM_MALFORMED", [...node.path, "on"], "names an end twice", "name each once");
  }
  return named;
}

/** The JSON Schema of the field `result` of a program. */
const resultSchema: JsonSchema = {
  description: "Named scalars of the receipt, at most 16 KB. An absent value is null.",
  type: "object",
  additionalProperties: { ...ref("value"), description: "A reference, a text or a scalar." },
  examples: [{ sent: { $ref: "steps.sum.sent" } }],
};

const counts = ["toolCalls", "writes", "rows", "asks", "concurrency"] as const;

/** Maximum nesting depth of the program's JSON text. */
const programDepthMax = 64;

/** Maximum size of a program's text in bytes. */
const programBytesMax = 262_144;

const plans = ["never", "destructive", "always"] as const satisfies readonly PlanApproval[];

const approverForm: ObjectForm = {
  description: "One contact.",
  required: { principal: principalSchema("head") },
  optional: {},
  examples: [{ principal: "head" }],
};

/**
 * The required and optional fields of `approval`, with their schemas. `approval` says when people must approve the program before it runs.
 */
const approvalForm: ObjectForm = {
  description: "Says if the plan needs approval before it runs, and from whom.",
  required: {},
  optional: {
    plan: {
      description:
        "Never, if the plan has a destructive call (the default; undo calls do not count), or always. The project's policy may require more.",
      enum: plans,
      examples: ["destructive"],
    },
    escalation: {
      description: "Contacts that are asked for approvals, all at the same time. Default: every approver.",
      type: "array",
      minItems: hopCount.min,
      maxItems: hopCount.max,
      items: schemaOf(approverForm),
      examples: [[{ principal: "head" }]],
    },
  },
  examples: [{ plan: "always", escalation: [{ principal: "head" }] }],
};

/** Reads the field `approval` of a program: when people must approve the program before it runs, and who is asked. */
function readApproval(node: ShapeNode, reader: ShapeReader): Approval {
  const fields = node.value === undefined ? undefined : reader.fields(node, approvalForm);
  if (fields === undefined) return { plan: "destructive", escalation: [] };
  const hops = fields.has("escalation") ? reader.items(fields.at("escalation"), hopCount) : [];
  const escalation = (hops ?? []).map((hop) => readPrincipal(reader.fields(hop, approverForm), reader));
  return { plan: reader.oneOf<PlanApproval>(fields.at("plan"), plans) ?? "destructive", escalation };
}

/** A program that was read from JSON, with its faults. `leftOut`: ids of the steps and judgment points that could not be read. */
export type ReadProgram = {
  readonly document: JsonObject;
  readonly program: Program;
  readonly leftOut: { readonly steps: ReadonlySet<string>; readonly points: ReadonlySet<string> };
  readonly faults: FaultList;
};

/**
 * Reads a program and checks its form: the rules of its JSON Schema, and rules that a schema cannot express (durations, paths, ids).
 * Records every fault. Steps and judgment points with faults are left out. `program` is undefined if the text is not a JSON object.
 */
export function readProgram(programJson: string): ReadProgram | { readonly faults: FaultList } {
  const tooLarge = Buffer.byteLength(programJson) > programBytesMax;
  if (tooLarge) {
    const faults = createFaultList(undefined);
    const message = `has ${Buffer.byteLength(programJson)} bytes; at most ${programBytesMax} are allowed`;
    faults.add("PROGRAM_TOO_LARGE", [], message, "keep data out of the program, or split it into several jobs");
    return { faults };
  }
  const { value, faults: textFaults } = parseJsonText(programJson, programDepthMax);
  const faults = createFaultList(value);
  for (const { path, message, hint } of textFaults) faults.add("PROGRAM_MALFORMED", path, message, hint);
  if (value === undefined) return { faults };
  const leftOut = { steps: new Set<string>(), points: new Set<string>() };
  const program = readDocument({ value, path: [] }, createShapeReader(faults), leftOut);
  return program === undefined || !isObject(value) ? { faults } : { document: value, program, leftOut, faults };
}

/** Reads a stored program, which was checked earlier. Throws an Error if it has a fault, because the stored data is then damaged. */
export function parseCheckedProgram(programJson: string): Program {
  const read = readProgram(programJson);
  const [fault] = read.faults.list();
  if (fault === undefined && "program" in read) return read.program;
  throw new Error(`program is not a checked program: ${describe(fault)}`);
}

function describe(fault: ProgramFault | undefined): string {
  return fault === undefined ? "it is not an object" : `${fault.pointer} ${fault.message}`;
}

/** The required and optional fields of a program, with their schemas. */
export const programForm: ObjectForm = {
  description:
    "A program: data that svc interprets. At most 256 KiB and 100 steps, including branches and calls of maps. SubmitJob also checks rules that a schema cannot express, and reports all errors at once.",
  required: {
    version: { description: "Version of the language.", const: 1, examples: [1] },
    title: {
      description: "What the job does, in one line.",
      type: "string",
      minLength: 1,
      maxLength: 200,
      examples: ["Remind guests of open invitations"],
    },
    steps: {
      description: "The steps, in the order they run.",
      type: "array",
      minItems: 1,
      items: ref("step"),
      examples: [
        [
          {
            id: "fetch",
            call: "calendar.list_events",
            entity: "ops",
            args: { calendar_id: { $ref: "input.calendar" }, max_results: 250 },
            rows: { from: "items[]", keep: ["id"] },
          },
        ],
      ],
    },
  },
  optional: {
    $schema: {
      description: "Where this schema is served, for editors.",
      type: "string",
      minLength: 1,
      maxLength: 2000,
      examples: ["https://svc.example.com/schemas/program.v1.json"],
    },
    inputSchema: {
      ...ref("schema"),
      description:
        "JSON Schema of input. A program with an inputSchema can be promoted to a skill, which takes a new input for each run.",
      examples: [{ type: "object", required: ["calendar"], properties: { calendar: { type: "string" } } }],
    },
    input: { description: "The values that a caller gives.", type: "object", examples: [{ calendar: "primary" }] },
    params: {
      description: "The program's own constants, which answers may change.",
      type: "object",
      examples: [{ minGuests: 1.0 }],
    },
    limits: schemaOf(limitsForm),
    approval: schemaOf(approvalForm),
    points: pointsSchema,
    saga: schemaOf(sagaForm),
    result: resultSchema,
  },
  examples: [{ version: 1, title: "Pause", steps: [{ id: "pause", wait: "10m" }] }],
};

type LeftOut = { readonly steps: Set<string>; readonly points: Set<string> };

function readDocument(root: ShapeNode, reader: ShapeReader, leftOut: LeftOut): Program | undefined {
  const fields = reader.fields(root, programForm);
  if (fields === undefined) return undefined;
  const version = fields.at("version");
  if (version.value !== undefined && version.value !== 1) {
    reader.faults.add("PROGRAM_MALFORMED", version.path, "is not a version that this service knows", "write 1");
  }
  if (fields.has("$schema")) reader.text(fields.at("$schema"), { max: 2000 });
  const inputSchema = readInputSchema(fields.at("inputSchema"), reader);
  const input = reader.object(fields.at("input")) ?? {};
  const limits = readLimits(fields.at("limits"), reader);
  const params = reader.object(fields.at("params")) ?? {};
  lookForPlaces(params, ["params"], reader.faults);
  return {
    version: 1,
    title: reader.text(fields.at("title"), { max: 200 }) ?? "",
    inputSchema,
    input: inputSchema === undefined ? input : (fillInput(inputSchema, input) as JsonObject),
    params,
    limits,
    approval: readApproval(fields.at("approval"), reader),
    steps: readSteps(fields.at("steps"), reader, { limits, leftOut: leftOut.steps }),
    points: readPoints(fields.at("points"), reader, leftOut.points),
    sagaOn: readSaga(fields.at("saga"), reader),
    result: readResult(fields.at("result"), reader),
  };
}

function readInputSchema(node: ShapeNode, reader: ShapeReader): JsonSchema | undefined {
  if (node.value === undefined) return undefined;
  return checkSchemaDocument(node, reader.faults, "PROGRAM_MALFORMED") ? (node.value as JsonSchema) : undefined;
}

/** Reads the limits of a job from its program. A limit that is absent gets its default. */
function readLimits(node: ShapeNode, reader: ShapeReader): Limits {
  const fields = node.value === undefined ? undefined : reader.fields(node, limitsForm);
  if (fields === undefined) return defaultLimits;
  const limits = { ...defaultLimits };
  limits.deadlineMs = reader.duration(fields.at("deadline"), limitBounds.deadlineMs) ?? limits.deadlineMs;
  for (const name of counts) limits[name] = readCount(fields.at(name), name, reader) ?? limits[name];
  return limits;
}

function readCount(node: ShapeNode, name: (typeof counts)[number], reader: ShapeReader): number | undefined {
  const { value, path } = node;
  const { min, max } = limitBounds[name];
  if (typeof value !== "number") return reader.number(node, { min, max });
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  const hint = `write a whole number from ${min} to ${max}`;
  reader.faults.add("PROGRAM_LIMIT_INVALID", path, `is ${value}, outside of its range`, hint);
  return undefined;
}
