import { createTenantValidators, holdsSensitivePlace, marksSensitive, placeAt, schemaPlace } from "@svc/catalog";
import { isObject } from "@svc/core";
import { pathOf } from "../json.ts";
import type { Overrides, OverrideTarget, Point } from "../point.ts";
import type { Program } from "../program.ts";
import { pointExample } from "../read/points.ts";
import { callsOf, stepsOf } from "../steps/index.ts";
import { argumentOfPage } from "../steps/parts/page.ts";
import { faultOfAssignment, fieldType, namesOf, typeOfConstant, type ValueType } from "../types/schema-type.ts";
import { checkAskedPoint, hasField, placeOf } from "./asked-point.ts";
import type { Check } from "./context.ts";
import { mayWrite } from "./notes.ts";
import { checkSensitiveSchema } from "./sensitive.ts";
import type { PointUse } from "./steps.ts";

/**
 * Ids of steps and judgment points (questions to people) that the checker could not read. They are missing in the parsed program. A
 * reference to such an id is not reported, because the reason was already reported.
 */
export type LeftOutIds = { readonly steps: ReadonlySet<string>; readonly points: ReadonlySet<string> };

/** Checks the judgment points of a program (questions to people), and each step that asks one of them. Records every fault. */
export function checkPoints(program: Program, uses: readonly PointUse[], leftOut: LeftOutIds, check: Check): void {
  for (const use of uses) {
    const point = program.points.get(use.point);
    if (point !== undefined) checkAskedPoint({ program, point, use, leftOut: leftOut.steps }, check);
    else if (!leftOut.points.has(use.point)) {
      const names = [...program.points.keys()];
      const hint =
        names.length === 0
          ? `declare it in points: {${JSON.stringify(use.point)}: ${pointExample}}`
          : `use ${names.join(", ")}, or declare it`;
      check.faults.add("PROGRAM_REFERENCE_INVALID", placeOf(use), `there is no point ${use.point}`, hint);
    }
  }
  for (const point of program.points.values()) checkPoint(program, point, uses, leftOut.steps, check);
}

function checkPoint(
  program: Program,
  point: Point,
  uses: readonly PointUse[],
  leftOut: ReadonlySet<string>,
  check: Check,
): void {
  const { faults } = check;
  const path = pathOf(point.pointer);
  const { overrides, answerSchema, continuations } = point;
  checkLadder(point, check);
  checkDefault(point, check);
  if (overrides !== undefined && !continuations.includes("retry-with")) {
    const hint = "add retry-with to continuations, or leave overrides out";
    faults.add("PROGRAM_POINT_INVALID", [...path, "overrides"], "has overrides that no continuation uses", hint);
  }
  if (answerSchema !== undefined && overrides === undefined && !hasField(check, point, "overrides")) {
    const hint = "add overrides: they say what the answer changes";
    faults.add("PROGRAM_POINT_INVALID", [...path, "answerSchema"], "describes an answer that changes nothing", hint);
  }
  const own = uses.filter((use) => use.point === point.id);
  if (overrides?.rerunFrom !== undefined && own.length > 0 && own.every(({ about }) => about !== "step")) {
    const hint = "leave it out: rows continue at their first call that is not ok";
    const message = "is asked about rows, and svc does not run a step again for rows";
    faults.add("PROGRAM_POINT_INVALID", [...path, "overrides", "rerunFrom"], message, hint);
  }
  if (overrides !== undefined) checkOverrideTarget(program, point, overrides, leftOut, check);
  // True if it is known which steps ask this judgment point (question to people). A step that was left out, or a step that names an unknown
  // point, may be the one that asks it.
  const isKnown = leftOut.size === 0 && uses.every((use) => program.points.has(use.point));
  if (own.length === 0 && isKnown && !faults.has(point.pointer)) checkUnasked(program, point, check);
}

/** Reports a judgment point (question to people) that no step asks. Its question would have no effect. */
function checkUnasked({ steps }: Program, { id, pointer }: Point, check: Check): void {
  const acting = [...stepsOf(steps)].find((step) => mayWrite(step, check));
  const place = acting === undefined ? "before the step that it is about" : `directly before ${acting.id}`;
  const hint = `put {"id": "ask_${id}", "judge": "${id}"} ${place}, name it in onRows of a map if it is about rows, or leave the point out`;
  const message = "is not asked by any step, so the job acts without asking";
  check.faults.addYounger("PROGRAM_POINT_INVALID", pathOf(pointer), message, hint);
}

function checkLadder(point: Point, { faults }: Check): void {
  const path = pathOf(point.pointer);
  const { escalation, defaultContinuation } = point;
  escalation.forEach(({ timeoutMs, principal }, index) => {
    const at = [...path, "escalation", index];
    const isFaulty = faults.has(`${point.pointer}/escalation/${index}/timeout`);
    if (timeoutMs !== undefined || isFaulty) return;
    if (index < escalation.length - 1) {
      const message = `${principal} has no timeout, so svc never asks the contacts after it`;
      faults.add("PROGRAM_POINT_INVALID", at, message, "add a timeout; only the last hop may have none");
    } else if (defaultContinuation !== undefined) {
      const message = "has no timeout, so the default is never used";
      faults.add("PROGRAM_POINT_INVALID", at, message, "add a timeout, or leave default out");
    }
  });
}

function checkDefault(point: Point, { faults }: Check): void {
  const { pointer, defaultContinuation, continuations, answerSchema } = point;
  if (defaultContinuation === undefined) return;
  const at = [...pathOf(pointer), "default", "continuation"];
  if (!continuations.includes(defaultContinuation)) {
    const hint = `use ${continuations.join(", ")}`;
    faults.add("PROGRAM_POINT_INVALID", at, `${defaultContinuation} is not declared`, hint);
  } else if (
    defaultContinuation === "retry-with" &&
    answerSchema !== undefined &&
    createTenantValidators()(answerSchema)({}).length > 0
  ) {
    const hint = "use another continuation, or make no field of the answer required";
    faults.add("PROGRAM_POINT_INVALID", at, "is retry-with, but a default answer has no values for it", hint);
  }
}

/**
 * Checks what a person's answer may change (`overrides`) in a program: every value that the answer's schema allows must fit the param or
 * argument that the answer changes. Records every fault.
 */
function checkOverrideTarget(
  program: Program,
  { pointer, answerSchema }: Point,
  { target }: Overrides,
  leftOut: ReadonlySet<string>,
  check: Check,
): void {
  const { faults, actions } = check;
  const path = pathOf(pointer);
  if (answerSchema !== undefined) checkSensitiveSchema(answerSchema, [...path, "answerSchema"], check);
  const found = targetType(program, target, actions);
  if ("fault" in found) {
    if (target.kind === "args" && leftOut.has(target.step)) return;
    const hint = "write params, or steps.<id>.args with the id of a call";
    faults.add("PROGRAM_REFERENCE_INVALID", [...path, "overrides", "target"], found.fault, hint);
    return;
  }
  const properties = isObject(answerSchema?.properties) ? answerSchema.properties : {};
  for (const [name, schema] of Object.entries(properties)) {
    const fault = faultOfProperty(name, schema, found);
    const at = [...path, "answerSchema", "properties", name];
    if (fault !== undefined) faults.add("PROGRAM_POINT_INVALID", at, fault.message, fault.hint);
    else if (!check.isStored && isShown(name, schema, found)) {
      const message = "changes a sensitive argument, but answers are shown in plain text";
      faults.add("PROGRAM_SENSITIVE_LITERAL", at, message, 'mark it: "x-sensitive": true');
    }
  }
}

/**
 * True if a person's answer to a question would show the value of a sensitive argument. False if the argument is not sensitive, or if the
 * schema of the answer marks the value as sensitive.
 */
function isShown(name: string, schema: unknown, { type }: Target): boolean {
  if (type === undefined || !holdsSensitivePlace(placeAt(schemaPlace(type), name))) return false;
  return !isObject(schema) || !marksSensitive(schema);
}

/**
 * The values that a person's `retry-with` answer may change: params, or the arguments of a call. `type`: the type of these values. `fixed`:
 * fields that the answer cannot change.
 */
type Target = { readonly type: ValueType; readonly fixed: readonly string[] };

function targetType(program: Program, target: OverrideTarget, actions: Check["actions"]): Target | { fault: string } {
  if (target.kind === "params") return { type: typeOfConstant(program.params), fixed: [] };
  const call = callsOf(program.steps).find(({ id }) => id === target.step);
  if (call === undefined) return { fault: `there is no call ${target.step}` };
  if (call.http !== undefined)
    return { fault: `${target.step} is an http step, and answers cannot change its request` };
  const action = actions.get(call.tool);
  return { type: action?.inputSchema, fixed: ["confirm", ...argumentOfPage(call.rows?.page, action)] };
}

function faultOfProperty(
  name: string,
  schema: unknown,
  { type, fixed }: Target,
): { readonly message: string; readonly hint: string } | undefined {
  const field = fixed.includes(name) ? { fault: "cannot be changed by an answer" } : fieldType(type, name);
  if ("fault" in field) {
    const names = type === undefined ? [] : namesOf(type).filter((known) => !fixed.includes(known));
    return { message: `${name} ${field.fault}`, hint: `name a field of the target: ${names.join(", ")}` };
  }
  const misfit = isObject(schema) ? faultOfAssignment(schema, field.type) : undefined;
  return misfit === undefined
    ? undefined
    : { message: `${misfit}, which the target requires`, hint: "give it the type of the value that it changes" };
}
