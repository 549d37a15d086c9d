import { isObject } from "@svc/core";
import type { ProgramFaultCode } from "../faults.ts";
import { type Path, pathOf } from "../json.ts";
import { listed } from "../limits.ts";
import type { Continuation, Overrides, Point } from "../point.ts";
import type { Program } from "../program.ts";
import { rerunOf } from "../run/rerun.ts";
import { valueAt } from "../run/resolve.ts";
import { callsOf, listsOf, ownCallsOf, ownRunsOf, type Step, stepsOf } from "../steps/index.ts";
import { effectOf } from "../steps/parts/tool-call.ts";
import { type Reference, referencesOf } from "../template.ts";
import { resolveType } from "../types/scope.ts";
import type { Check } from "./context.ts";
import { mayWrite } from "./notes.ts";
import { checkTexts } from "./references.ts";
import type { PointUse } from "./steps.ts";

/** Kinds of steps that contain other steps. If such a step is skipped, everything inside it is skipped too. */
const blocks: ReadonlySet<Step["kind"]> = new Set(["if", "until", "parallel"]);

/**
 * A judgment point (a question of the program to people), and the step that asks it. `leftOut`: ids of steps that are missing because the
 * checker could not read them.
 */
export type AskedPoint = {
  readonly program: Program;
  readonly point: Point;
  readonly use: PointUse;
  readonly leftOut: ReadonlySet<string>;
};

/** Returns the path of the field in which a step names the judgment point (question to people) that it asks. */
export function placeOf({ step, field }: PointUse): Path {
  return [...pathOf(step.pointer), ...field];
}

/**
 * True if the program text has this field of a judgment point (question to people), but the field is faulty. The reader has then reported
 * the fault and removed the field. So the field must not be reported as missing.
 */
export function hasField({ faults }: Check, { pointer }: Point, field: string): boolean {
  return faults.has(`${pointer}/${field}`);
}

/**
 * Checks a judgment point (a question of the program) at the step that asks it: the names that the question uses, and each answer that it
 * allows. Records every fault.
 */
export function checkAskedPoint(asked: AskedPoint, check: Check): void {
  const { point, use } = asked;
  checkQuestion(asked, check);
  checkBranch(asked, check);
  if (use.about === "step") {
    checkSkip(asked, check);
    checkRetry(asked, check);
    return;
  }
  if (point.isApproval) {
    const message = `${point.id} is an approval gate, not a question about rows`;
    check.faults.add("PROGRAM_POINT_INVALID", placeOf(use), message, "ask an approval gate in a judge step");
    return;
  }
  if (!point.continuations.includes("retry-with")) return;
  if (use.about === "unknown") checkResending(asked, check);
  checkRowTarget(asked, check);
}

/**
 * Returns the path at which a judgment point (question to people) declares a continuation (action after an answer). Returns the path of the
 * point itself if it does not declare this continuation.
 */
function continuationPath(point: Point, continuation: Continuation): Path {
  return [...pathOf(point.pointer), "continuations", point.continuations.indexOf(continuation)];
}

/**
 * Reports a judgment point in a branch of a `parallel` step if its answer may change params. Other branches read the same params at the
 * same time.
 */
function checkBranch({ program, point, use: { step } }: AskedPoint, { faults }: Check): void {
  if (point.overrides?.target.kind !== "params") return;
  const parallel = [...stepsOf(program.steps)].find((block) => {
    return block.kind === "parallel" && block.branches.some(({ steps }) => [...stepsOf(steps)].includes(step));
  });
  if (parallel === undefined) return;
  const path = [...pathOf(point.pointer), "overrides", "target"];
  const message = `changes params, but ${step.id} asks in a branch of ${parallel.id}, and other branches read params`;
  const hint = "change the arguments of a call of the branch (steps.<id>.args), or ask before the parallel";
  faults.add("PROGRAM_POINT_INVALID", path, message, hint);
}

/**
 * Kinds of steps that only prepare data for later steps, so a question must not skip them. `filter` and `reduce` prepare data as well, but
 * are not in this list. Version 0.1 let a question skip these two, and programs of that time must stay valid.
 */
const preparing: ReadonlySet<string> = new Set([
  "sort",
  "limit",
  "distinct",
  "join",
  "group",
  "compute",
  "flatten",
  "take",
]);

/**
 * Checks the answer `skip` of a judgment point (a question of the program), which skips the next step. Reports an error in two cases:
 * - The question is the last step of its list, so there is nothing to skip.
 * - The next step only prepares rows for later steps (for example a `sort`), because those later steps would still run.
 */
function checkSkip({ program, point, use: { step, list }, leftOut }: AskedPoint, check: Check): void {
  const { faults } = check;
  if (!point.continuations.includes("skip")) return;
  const path = continuationPath(point, "skip");
  if (list.at(-1) === step) {
    const message = `skips the step after ${step.id}, but no step follows it`;
    faults.add("PROGRAM_POINT_INVALID", path, message, "leave skip out");
    return;
  }
  const next = list[list.indexOf(step) + 1];
  // `next` is the step that `skip` would skip. Nothing is checked if there is no such step, or if steps were left out, because the real
  // next step is then unknown.
  if (next === undefined || leftOut.size > 0) return;
  if (!preparing.has(next.kind)) {
    noteSkip(point, next, writesAfterSkip(program, step, next, check), { step, faults });
    return;
  }
  const message = `skips only the one step after ${step.id}, which is the ${next.kind} ${next.id}: the steps after ${next.id} would still run`;
  const hint = `put ${step.id} directly before the step that acts, or put all steps to skip into an if after it, such as {"id": "act", "if": "true", "then": [...]}`;
  faults.addYounger("PROGRAM_POINT_INVALID", path, message, hint);
}

/** Adds a note for the author of a program. The note lists writes that still run if a person answers a question with `skip`. */
function noteSkip(
  point: Point,
  next: Step,
  writing: readonly Step[],
  { step, faults }: Pick<PointUse, "step"> & Pick<Check, "faults">,
): void {
  if (writing.length === 0) return;
  const names = listed(
    writing.map(({ id }) => id),
    "and",
  );
  const when = point.defaultContinuation === "skip" ? ", also when the clock answers it" : "";
  const message = `skips only ${next.id}, the one step after ${step.id}${when}: ${names} would still write`;
  const hint = `put all steps to skip into an if after ${step.id}, such as {"id": "act", "if": "true", "then": [...]}`;
  faults.note("SKIP_LEAVES_WRITES", continuationPath(point, "skip"), message, hint);
}

function checkRetry(asked: AskedPoint, check: Check): void {
  const { point, use, leftOut } = asked;
  const { overrides, answerSchema } = point;
  if (!point.continuations.includes("retry-with")) return;
  const fault = (path: Path, message: string, hint: string) =>
    check.faults.add("PROGRAM_POINT_INVALID", path, message, hint);
  if (overrides === undefined) {
    const hint = "add overrides {target, rerunFrom} and answerSchema";
    fault(continuationPath(point, "retry-with"), "has no overrides to apply", hint);
    return;
  }
  const path = [...pathOf(point.pointer), "overrides"];
  if (answerSchema === undefined && !hasField(check, point, "answerSchema")) {
    fault(path, "has no answerSchema to check them", "add answerSchema");
  }
  if (overrides.rerunFrom === undefined) {
    fault(path, `has no rerunFrom, but ${use.step.id} is a judge step`, "add rerunFrom: the step to go back to");
  } else if (!leftOut.has(overrides.rerunFrom)) checkRerun(asked, overrides, overrides.rerunFrom, check);
}

function checkRerun({ program, point, use }: AskedPoint, { target }: Overrides, from: string, check: Check): void {
  const path = [...pathOf(point.pointer), "overrides", "rerunFrom"];
  const fault = (message: string, hint: string, code: ProgramFaultCode = "PROGRAM_POINT_INVALID") =>
    check.faults.add(code, path, message, hint);
  const rerun = rerunOf(program, from, use.step.id);
  if ("fault" in rerun) {
    const hint = `name a step before ${use.step.id} in the same list, or in the list of the if around it`;
    const why = {
      later: "comes after",
      branch: "is in a branch that does not lead to",
      block: "is outside of the until, parallel or onError that contains",
      unknown: "is not before",
    }[rerun.fault];
    if (rerun.fault === "unknown") fault(`there is no step ${from}`, hint, "PROGRAM_REFERENCE_INVALID");
    else fault(`${from} ${why} ${use.step.id}`, hint);
    return;
  }
  const calls = rerun.steps.flatMap(ownCallsOf);
  const writing = calls.find((call) => {
    const effect = effectOf(call, check.actions);
    return effect !== undefined && effect.access !== "read";
  });
  if (writing !== undefined) {
    const hint = "go back to a step after it: a write is never repeated";
    fault(`would repeat the write ${writing.id} (${writing.tool})`, hint);
  }
  const running = rerun.steps.find((step) => ownRunsOf(step).length > 0 && mayWrite(step, check));
  if (running !== undefined) {
    const hint = "go back to a step after it: a write is never repeated";
    fault(`would repeat ${running.id}, which runs a skill that writes`, hint);
  }
  // If the call whose arguments an answer may change does not exist in the program, this function reports nothing. The function
  // checkOverrideTarget reports that fault.
  if (target.kind !== "args" || calls.some(isStep(target)) || !callsOf(program.steps).some(isStep(target))) return;
  const hint = `go back to ${target.step} or to a step before it`;
  fault(`does not run ${target.step} again, but overrides its arguments`, hint);
}

/**
 * Checks a judgment point (a question to people) that can run rows with an unknown outcome again. Reports an error if a call of these rows
 * takes no idempotency key, because the app may then execute it twice.
 */
function checkResending({ point, use }: AskedPoint, check: Check): void {
  const unkeyed = ownCallsOf(use.step).find((call) => {
    const effect = effectOf(call, check.actions);
    return effect !== undefined && effect.access !== "read" && !effect.takesKey;
  });
  if (unkeyed === undefined) return;
  const message = `could send ${unkeyed.id} twice: ${unkeyed.tool} takes no idempotency key`;
  const hint = "leave retry-with out, or ask another point for unknown rows";
  check.faults.add("PROGRAM_POINT_INVALID", continuationPath(point, "retry-with"), message, hint);
}

function checkRowTarget({ program, point, use: { step } }: AskedPoint, { faults }: Check): void {
  const target = point.overrides?.target;
  const calls = ownCallsOf(step);
  // A call that does not exist at all is reported by `checkOverrideTarget`.
  if (target?.kind !== "args" || calls.some(isStep(target)) || !callsOf(program.steps).some(isStep(target))) return;
  const path = [...pathOf(point.pointer), "overrides", "target"];
  const hint = `name one of ${calls.map(({ id }) => id).join(", ")}`;
  faults.add("PROGRAM_POINT_INVALID", path, `${target.step} is not a call of ${step.id}`, hint);
}

function isStep({ step }: { readonly step: string }): (call: { readonly id: string }) => boolean {
  return ({ id }) => id === step;
}

/**
 * Returns the steps that still write after a person answers the question of a `judge` step with `skip`. This answer skips only the next
 * step. Steps that use rows of the skipped step, or depend on it, write nothing and are not returned. Returns an empty list if the skipped
 * step contains other steps.
 */
function writesAfterSkip(program: Program, judge: Step, next: Step, check: Check): readonly Step[] {
  if (blocks.has(next.kind)) return [];
  const gone = new Set([next.id]);
  return followersOf(program.steps, judge)
    .slice(1)
    .filter((step) => {
      const condition = step.kind === "if" ? step.condition.source : "";
      const isIdle =
        ("source" in step && gone.has(step.source)) || asksFor(gone, `${step.when?.source ?? ""} ${condition}`);
      if (isIdle) gone.add(step.id);
      return !isIdle && [...stepsOf([step])].some((inner) => mayWrite(inner, check));
    });
}

/**
 * Returns the steps that run after a given step. First come the later steps of its own list. If the list belongs to a block (a step that
 * contains steps), the steps after this block follow. The same applies to each enclosing block.
 */
function followersOf(list: readonly Step[], sought: Step): readonly Step[] {
  for (const [index, step] of list.entries()) {
    if (step === sought) return list.slice(index + 1);
    const inner = listsOf(step).find((branch) => [...stepsOf(branch)].includes(sought));
    if (inner !== undefined) return [...followersOf(inner, sought), ...list.slice(index + 1)];
  }
  return [];
}

function asksFor(ids: ReadonlySet<string>, source: string): boolean {
  return [...source.matchAll(/\b(?:steps|rows)\.(\w+)/g)].some(([, id = ""]) => ids.has(id));
}

type AskedQuestion = { readonly program: Program; readonly point: Point; readonly use: PointUse };

/**
 * Checks the text of a question at its step. A text has no replacement for an absent value, so every value that it uses must exist. Records
 * every fault.
 */
function checkQuestion(asked: AskedQuestion, check: Check): void {
  const { point, use } = asked;
  const { faults } = check;
  const path = [...pathOf(point.pointer), "question"];
  checkTexts(point.question, path, use.scope, faults);
  for (const { reference } of referencesOf(point.question)) {
    const found = resolveType(use.scope, reference);
    const fault = (message: string, hint: string) =>
      faults.add("PROGRAM_REFERENCE_INVALID", path, `${reference.text}: ${message}`, hint);
    if ("fault" in found) fault(found.fault, found.hint);
    else if (found.maySkip || found.mayFail === true) {
      const [id] = reference.path;
      const why = found.maySkip ? "may be skipped" : "may or may not have failed";
      const place = `in the branch that runs ${id}, or with "when": "has(steps.${id})"`;
      const hint = `a question has no else: ask it ${place} at ${use.step.id}, or name a value that always exists, such as rows.<set>, which is 0 if its step was skipped`;
      fault(`step ${id} ${why}`, hint);
    } else if (mayLack(reference, asked, check)) {
      const message = `${reference.text}: may be absent, and a question has no else`;
      const name = reference.path.join(".");
      const hint = `give ${name} a default in inputSchema, or require it there; or ask only on a condition: "when": "has(${reference.text})" at ${use.step.id}`;
      faults.addYounger("PROGRAM_REFERENCE_INVALID", path, message, hint);
    }
  }
}

/**
 * True if an input field that a question uses may be absent. This is the case if the program gives no value for the field, and the schema
 * neither requires the field nor has a default. False if the condition of any step mentions the field, because the author has then
 * considered that it may be absent.
 */
function mayLack(reference: Reference, { program }: AskedQuestion, { isInputMade }: Check): boolean {
  const { root, path, text } = reference;
  const { inputSchema, input } = program;
  if (root !== "input" || inputSchema === undefined || isInputMade || valueAt(input, path) !== undefined) return false;
  const [name, ...inner] = path;
  const { required, properties } = inputSchema;
  const property = isObject(properties) && typeof name === "string" ? properties[name] : undefined;
  const isRequired = Array.isArray(required) && required.includes(name);
  if (inner.length > 0 || isRequired || !isObject(property) || property.default !== undefined) return false;
  return ![...stepsOf(program.steps)].some((step) => {
    const conditions = [step.when?.source, step.kind === "if" ? step.condition.source : undefined];
    return conditions.some((source) => source?.includes(text));
  });
}
