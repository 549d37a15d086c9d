import { type JsonSchema, marksSensitive } from "@svc/catalog";
import { isCall, type JsonObject, type JsonValue, type Step } from "@svc/program";
import { createRedactor, mask, maskedTexts, type Redactor } from "@svc/tools";
import type { JobScope, JobState, LoadedProgram } from "./job.ts";
import { isSensitiveValue } from "./sensitive-rows.ts";

/** Schemas that mark the sensitive parts of a program's values. A part is absent if nothing in it is marked. */
type SensitiveParts = {
  readonly input: JsonSchema | undefined;
  readonly params: JsonSchema | undefined;
  /** Schemas of the values that references such as `steps.<id>` return, by id of the step. */
  readonly steps: ReadonlyMap<string, JsonSchema>;
  /** Schemas of the arguments that people's answers may change, by call. */
  readonly args: ReadonlyMap<string, JsonSchema>;
};

/** The parts of a loaded program that are needed to find its sensitive values. */
type ReadProgram = Omit<LoadedProgram, "hasSensitive">;

/** The values of a job as people may see them: sensitive values are replaced by `***`. */
export type ShownJob = {
  /** The values that questions and results of the program can contain. Sensitive values are replaced by `***`. */
  readonly scope: JobScope;
  /** Arguments from people's answers that replace those of the program, by step. Sensitive values are `***`. */
  readonly stepArgs: JsonObject;
  /** Returns a text without the job's sensitive values. An error message from an app, for example, may contain such values. */
  readonly redact: Redactor;
  /**
   * All texts that a message for people must not contain, because they are sensitive in the job's data: values (numbers are converted to
   * texts), and names of fields inside sensitive objects.
   */
  readonly secrets: readonly string[];
};

/**
 * Returns a job's values with sensitive ones replaced by `***`. A value is sensitive if the program's inputSchema, an answerSchema or a
 * tool's schema marks it.
 */
export function shownOf({ loaded, scope, stepArgs }: Pick<JobState, "loaded" | "scope" | "stepArgs">): ShownJob {
  const parts = loaded.hasSensitive ? sensitiveParts(loaded) : undefined;
  if (parts === undefined) return { scope, stepArgs, redact: asItIs, secrets: [] };
  const input = maskObject(parts.input, scope.input);
  const params = maskObject(parts.params, scope.params);
  const steps = maskEach(parts.steps, scope.steps);
  const args = maskEach(parts.args, stepArgs);
  const secrets = [
    ...maskedTexts(scope.input, input),
    ...maskedTexts(scope.params, params),
    ...maskedTexts(scope.steps, steps),
    ...maskedTexts(stepArgs, args),
  ];
  return { scope: { ...scope, input, params, steps }, stepArgs: args, redact: createRedactor(secrets), secrets };
}

/** True if any value of a program's input or of its calls' answers is marked as sensitive. */
export function hasSensitive(program: ReadProgram): boolean {
  return findParts(program) !== "none";
}

function asItIs(text: string): string {
  return text;
}

function maskObject(schema: JsonSchema | undefined, value: JsonObject): JsonObject {
  return schema === undefined ? value : (mask(schema, value) as JsonObject);
}

/** Returns the values with their sensitive parts masked. Each value is masked by the schema that has the same key in `schemas`. */
function maskEach(schemas: ReadonlyMap<string, JsonSchema>, values: JsonObject): JsonObject {
  if (schemas.size === 0) return values;
  const shown = Object.entries(values).map(([id, value]): [string, JsonValue] => {
    const schema = schemas.get(id);
    return [id, schema === undefined ? value : (mask(schema, value) as JsonValue)];
  });
  return Object.fromEntries(shown);
}

const known = new WeakMap<LoadedProgram, SensitiveParts | "none">();

/**
 * Returns the sensitive parts of a program, or undefined if nothing is sensitive. They are computed once for each program that a node
 * caches.
 */
function sensitiveParts(loaded: LoadedProgram): SensitiveParts | undefined {
  let parts = known.get(loaded);
  if (parts === undefined) {
    parts = findParts(loaded);
    known.set(loaded, parts);
  }
  return parts === "none" ? undefined : parts;
}

function findParts(loaded: ReadProgram): SensitiveParts | "none" {
  const { inputSchema, points } = loaded.program;
  const input = inputSchema !== undefined && marksSensitive(inputSchema) ? inputSchema : undefined;
  const answers = [...points.values()].flatMap(({ overrides, answerSchema }) => {
    const changesParams = overrides?.target.kind === "params" && answerSchema !== undefined;
    return changesParams && marksSensitive(answerSchema) ? [answerSchema] : [];
  });
  const params = answers.length === 0 ? undefined : { allOf: answers };
  const steps = new Map(
    stepsOf(loaded).flatMap((step) => {
      const schema = valueSchema(loaded, step);
      return schema !== undefined && marksSensitive(schema) ? [[step.id, schema] as const] : [];
    }),
  );
  const args = changedArguments(loaded);
  const isNone = input === undefined && params === undefined && steps.size + args.size === 0;
  return isNone ? "none" : { input, params, steps, args };
}

/** Returns the input schemas of calls that have sensitive arguments, if a person may change these arguments when answering a question. */
function changedArguments(loaded: ReadProgram): Map<string, JsonSchema> {
  const targets = new Set(
    [...loaded.program.points.values()].flatMap(({ overrides }) => {
      return overrides?.target.kind === "args" ? [overrides.target.step] : [];
    }),
  );
  const calls = stepsOf(loaded).flatMap((step) => {
    return step.kind === "call" ? [step] : step.kind === "map" ? step.calls.filter(isCall) : [];
  });
  return new Map(
    calls.flatMap(({ id, tool }) => {
      const schema = targets.has(id) ? loaded.tools.get(tool)?.action.inputSchema : undefined;
      return schema !== undefined && marksSensitive(schema) ? [[id, schema] as const] : [];
    }),
  );
}

function stepsOf({ flow }: ReadProgram): Step[] {
  return flow.instructions.flatMap((instruction) => (instruction.kind === "step" ? [instruction.step] : []));
}

/** Returns the schema of the value `steps.<id>` of a step, or undefined if the step has no value with a schema. */
function valueSchema(loaded: ReadProgram, step: Step): JsonSchema | undefined {
  if (step.kind === "call") return step.rows === undefined ? outputOf(loaded, step.tool) : undefined;
  if (step.kind !== "reduce") return undefined;
  const names = step.as.flatMap(([name, reduction]) =>
    isSensitiveValue(loaded, step.source, reduction) ? [name] : [],
  );
  return { properties: Object.fromEntries(names.map((name) => [name, { "x-sensitive": true }])) };
}

function outputOf({ tools }: ReadProgram, slug: string): JsonSchema | undefined {
  return tools.get(slug)?.action.outputSchema;
}
