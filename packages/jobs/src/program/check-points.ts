import { createTenantValidators } from "@svc/catalog";
import type { Check } from "./check-context.ts";
import { checkReferences } from "./check-references.ts";
import type { PointUse } from "./check-steps.ts";
import { pathOf } from "./faults.ts";
import { type Continuation, callsOf, type MapStep, type Path, type Point, type Program } from "./program.ts";
import { rerunOf } from "./rerun.ts";
import { faultOfAssignment, fieldType, namesOf, typeOfConstant, type ValueType } from "./schema-type.ts";
import { isObject } from "./shape.ts";

/** Checks every place where a point is asked, and every point by itself. Records every fault. */
export function checkPoints(
  program: Program,
  uses: readonly PointUse[],
  broken: { readonly steps: ReadonlySet<string>; readonly points: ReadonlySet<string> },
  check: Check,
): void {
  for (const use of uses) {
    const point = program.points.get(use.point);
    if (point !== undefined) checkUse(program, use, point, broken.steps, check);
    else if (!broken.points.has(use.point)) {
      const names = [...program.points.keys()];
      const hint = names.length === 0 ? "declare it in points" : `use ${names.join(", ")}, or declare it`;
      check.faults.add("PROGRAM_REFERENCE_INVALID", placeOf(use), `there is no point ${use.point}`, hint);
    }
  }
  for (const point of program.points.values()) checkPoint(program, point, uses, broken.steps, check);
}

function placeOf({ step, at }: PointUse): Path {
  return [...pathOf(step.pointer), ...(at === "judge" ? ["judge"] : ["onRows", at])];
}

/** The path of one continuation in a point, or of the point when it is not there. */
function continuationPath(point: Point, continuation: Continuation): Path {
  return [...pathOf(point.pointer), "continuations", point.continuations.indexOf(continuation)];
}

function checkUse(program: Program, use: PointUse, point: Point, broken: ReadonlySet<string>, check: Check): void {
  const path = pathOf(point.pointer);
  checkReferences(point.question, [...path, "question"], use.scope, check.faults);
  if (point.isApproval && use.at !== "judge") {
    const hint = "ask an approval gate in a judge step";
    check.faults.add(
      "PROGRAM_POINT_INVALID",
      placeOf(use),
      `${point.id} is an approval gate, not a question about rows`,
      hint,
    );
  }
  if (use.at === "judge") checkAtJudge(program, use, point, broken, check);
  else checkAtRows(program, use, point, check);
}

function checkAtJudge(program: Program, use: PointUse, point: Point, broken: ReadonlySet<string>, check: Check): void {
  const { faults } = check;
  const path = pathOf(point.pointer);
  const isLast = use.list.at(-1) === use.step;
  if (point.continuations.includes("skip") && isLast) {
    const message = `skips the step after ${use.step.id}, and there is none`;
    faults.add("PROGRAM_POINT_INVALID", continuationPath(point, "skip"), message, "leave skip out");
  }
  if (!point.continuations.includes("retry-with")) return;
  const { overrides, answerSchema } = point;
  const at = continuationPath(point, "retry-with");
  if (overrides === undefined) {
    faults.add(
      "PROGRAM_POINT_INVALID",
      at,
      "has no overrides to apply",
      "add overrides {target, rerunFrom} and answerSchema",
    );
    return;
  }
  if (answerSchema === undefined && !hasField(check, point, "answerSchema")) {
    faults.add(
      "PROGRAM_POINT_INVALID",
      [...path, "overrides"],
      "has no answerSchema to check them",
      "add answerSchema",
    );
  }
  if (overrides.rerunFrom === undefined) {
    const hint = "add rerunFrom: the step to go back to";
    faults.add(
      "PROGRAM_POINT_INVALID",
      [...path, "overrides"],
      `has no rerunFrom, and ${use.step.id} is a judge step`,
      hint,
    );
  } else if (!broken.has(overrides.rerunFrom)) checkRerun(program, use, point, overrides.rerunFrom, check);
}

/** Whether the document has a field that was left out because it is faulty: its absence is no second fault. */
function hasField({ faults }: Check, { pointer }: Point, field: string): boolean {
  return faults.has(`${pointer}/${field}`);
}

function checkRerun(program: Program, use: PointUse, point: Point, from: string, check: Check): void {
  const { faults } = check;
  const path = [...pathOf(point.pointer), "overrides", "rerunFrom"];
  const rerun = rerunOf(program, from, use.step.id);
  if ("fault" in rerun) {
    const hint = `name a step before ${use.step.id} in its own list, or in the list of the if that it stands in`;
    if (rerun.fault === "unknown") faults.add("PROGRAM_REFERENCE_INVALID", path, `there is no step ${from}`, hint);
    else {
      const why = rerun.fault === "later" ? "comes after" : "stands in a branch that does not lead to";
      faults.add("PROGRAM_POINT_INVALID", path, `${from} ${why} ${use.step.id}`, hint);
    }
    return;
  }
  const writing = callsOf(rerun.steps.filter(({ kind }) => kind !== "if")).find(({ tool }) => {
    const action = check.actions.get(tool);
    return action !== undefined && action.class !== "read";
  });
  if (writing !== undefined) {
    const hint = "go back to a step after it: what was written is not written again";
    faults.add("PROGRAM_POINT_INVALID", path, `would cross the write ${writing.id} (${writing.tool})`, hint);
  }
  const target = point.overrides?.target;
  if (target?.kind !== "args") return;
  if (callsOf(rerun.steps.filter(({ kind }) => kind !== "if")).some(({ id }) => id === target.step)) return;
  if (!callsOf(program.steps).some(({ id }) => id === target.step)) return;
  const hint = `go back to ${target.step} or before it`;
  faults.add("PROGRAM_POINT_INVALID", path, `does not run ${target.step} again, whose arguments are overridden`, hint);
}

function checkAtRows(program: Program, use: PointUse, point: Point, check: Check): void {
  const { faults } = check;
  const { step, at } = use;
  if (step.kind !== "map" || point.isApproval) return;
  if (point.continuations.includes("retry-with") && at === "unknown") {
    const unkeyed = step.calls.find(({ tool }) => {
      const action = check.actions.get(tool);
      return action !== undefined && action.class !== "read" && action.idempotency === undefined;
    });
    if (unkeyed !== undefined) {
      const message = `could send ${unkeyed.id} twice: ${unkeyed.tool} takes no idempotency key`;
      const hint = "leave retry-with out, or ask another point for unknown rows";
      faults.add("PROGRAM_POINT_INVALID", continuationPath(point, "retry-with"), message, hint);
    }
  }
  checkRowTarget(program, step, point, check);
}

function checkRowTarget(program: Program, { calls, id: map }: MapStep, point: Point, { faults }: Check): void {
  const target = point.overrides?.target;
  if (!point.continuations.includes("retry-with") || target?.kind !== "args") return;
  if (calls.some(({ id }) => id === target.step)) return;
  // Of a call that is nowhere, checkTarget tells.
  if (!callsOf(program.steps).some(({ id }) => id === target.step)) return;
  const path = [...pathOf(point.pointer), "overrides", "target"];
  const hint = `name one of ${calls.map(({ id }) => id).join(", ")}`;
  faults.add("PROGRAM_POINT_INVALID", path, `${target.step} is no call of ${map}`, hint);
}

function checkPoint(
  program: Program,
  point: Point,
  uses: readonly PointUse[],
  broken: ReadonlySet<string>,
  check: Check,
): void {
  const { faults } = check;
  const path = pathOf(point.pointer);
  const { overrides, answerSchema, continuations } = point;
  checkLadder(point, check);
  if (overrides !== undefined && !continuations.includes("retry-with")) {
    const hint = "add retry-with to continuations, or leave overrides out";
    faults.add("PROGRAM_POINT_INVALID", [...path, "overrides"], "has overrides that no continuation applies", hint);
  }
  if (answerSchema !== undefined && overrides === undefined && !hasField(check, point, "overrides")) {
    const hint = "add overrides, which say what the answer changes";
    faults.add("PROGRAM_POINT_INVALID", [...path, "answerSchema"], "describes an answer that changes nothing", hint);
  }
  const own = uses.filter((use) => use.point === point.id);
  if (overrides?.rerunFrom !== undefined && own.length > 0 && own.every(({ at }) => at !== "judge")) {
    const hint = "leave it out: rows go on at their first call that is not ok";
    faults.add(
      "PROGRAM_POINT_INVALID",
      [...path, "overrides", "rerunFrom"],
      "is asked about rows, which no step is run again for",
      hint,
    );
  }
  if (overrides !== undefined) checkTarget(program, point, broken, check);
}

function checkLadder(point: Point, { faults }: Check): void {
  const path = pathOf(point.pointer);
  const { escalation, defaultContinuation, continuations, answerSchema } = point;
  escalation.forEach(({ timeoutMs, principal }, index) => {
    const at = [...path, "escalation", index];
    const isFaulty = faults.has(`${point.pointer}/escalation/${index}/timeout`);
    if (timeoutMs !== undefined || isFaulty) return;
    if (index < escalation.length - 1) {
      const message = `${principal} has no timeout, so the hops after it are never reached`;
      faults.add("PROGRAM_POINT_INVALID", at, message, "add a timeout; only the last hop may lack one");
    } else if (defaultContinuation !== undefined) {
      const message = "has no timeout, so the default is never applied";
      faults.add("PROGRAM_POINT_INVALID", at, message, "add a timeout, or leave default out");
    }
  });
  if (defaultContinuation === undefined) return;
  const at = [...path, "default", "continuation"];
  if (!continuations.includes(defaultContinuation)) {
    faults.add(
      "PROGRAM_POINT_INVALID",
      at,
      `${defaultContinuation} is not declared`,
      `use ${continuations.join(", ")}`,
    );
  } else if (
    defaultContinuation === "retry-with" &&
    answerSchema !== undefined &&
    createTenantValidators()(answerSchema)({}).length > 0
  ) {
    const hint = "use another continuation, or require nothing of the answer";
    faults.add("PROGRAM_POINT_INVALID", at, "is retry-with, and the clock has nothing to answer", hint);
  }
}

/** Every value that an answer may give fits where it goes. */
function checkTarget(program: Program, point: Point, broken: ReadonlySet<string>, check: Check): void {
  const { overrides, answerSchema } = point;
  if (overrides === undefined) return;
  const path = pathOf(point.pointer);
  const found = targetType(program, overrides.target, check);
  if ("fault" in found) {
    const isBroken = overrides.target.kind === "args" && broken.has(overrides.target.step);
    const hint = "write params, or steps.<id>.args with the id of a call";
    if (!isBroken) check.faults.add("PROGRAM_REFERENCE_INVALID", [...path, "overrides", "target"], found.fault, hint);
    return;
  }
  const properties = isObject(answerSchema?.properties) ? answerSchema.properties : {};
  for (const [name, schema] of Object.entries(properties)) {
    const at = [...path, "answerSchema", "properties", name];
    const isFixed = found.fixed.includes(name);
    const field = isFixed ? { fault: "is not for answers to change" } : fieldType(found.type, name);
    if ("fault" in field) {
      const names = found.type === undefined ? [] : namesOf(found.type).filter((known) => !found.fixed.includes(known));
      check.faults.add(
        "PROGRAM_POINT_INVALID",
        at,
        `${name} ${field.fault}`,
        `name what the target has: ${names.join(", ")}`,
      );
      continue;
    }
    const message = isObject(schema) ? faultOfAssignment(schema, field.type) : undefined;
    if (message !== undefined) {
      check.faults.add(
        "PROGRAM_POINT_INVALID",
        at,
        `${message}, as the target needs`,
        "give it the type of what it changes",
      );
    }
  }
}

type Target = { readonly type: ValueType; readonly fixed: readonly string[] };

function targetType(
  program: Program,
  target: NonNullable<Point["overrides"]>["target"],
  check: Check,
): Target | { fault: string } {
  if (target.kind === "params") return { type: typeOfConstant(program.params), fixed: [] };
  const call = callsOf(program.steps).find(({ id }) => id === target.step);
  if (call === undefined) return { fault: `there is no call ${target.step}` };
  const fixed = ["confirm", ...(call.rows?.page === undefined ? [] : [call.rows.page.arg])];
  return { type: check.actions.get(call.tool)?.inputSchema, fixed };
}
