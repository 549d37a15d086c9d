import { createTenantValidators, fitInput, type JsonSchema, type SchemaValidator } from "@svc/catalog";
import { parseExactJson } from "@svc/core";
import type { ChildDocument } from "@svc/db/documents/jobs";
import type { JsonObject, JsonValue, Limits, PinnedSkill } from "@svc/program";
import type { ChildStanding, Edit, LimitName, NewChild, UndoOf } from "../state/change.ts";
import { noCalls } from "../state/counts.ts";
import type { JobState, LoadedProgram } from "../state/job.ts";
import { isEnd, type JobStatus } from "../state/statuses.ts";
import type { CallPlace, Child, LoadedSkill } from "./effects.ts";
import type { CallFault } from "./invoke.ts";
import type { ChildLimits } from "./shared-limits.ts";

/**
 * Returns the state of a child job as the text that its parent job compares: the final status, `parked/` with the reason why the job is
 * suspended, or `under way`. The parent job waits until this text changes.
 */
export function standingOf({ status, parkReason }: Pick<Child, "status" | "parkReason">): string {
  if (status === "parked") return `parked/${parkReason}`;
  return isEnd(status) ? status : "under way";
}

/** Returns a child job's current state in the form in which the parent job stores it. The parent job waits until the state is different. */
export function awaited(child: Pick<Child, "id" | "status" | "parkReason">): ChildStanding {
  return { id: child.id, standing: standingOf(child) };
}

/** True if a child job waits for a person. A child that waits at a `wait` step, for a time, does not count. */
export function waitsForPerson({ status, parkReason }: Child): boolean {
  return status === "parked" && parkReason !== "wait";
}

/**
 * Returns the edits (changes to the job's state) for a job that waits for its child jobs.
 * - If all running child jobs wait for people, the job is parked (suspended).
 * - If one of them continues, the job continues.
 * - The clock of the job's deadline stops only if the clocks of all running child jobs are stopped.
 * - If the job runs parallel branches, returns no edits.
 */
export function standWith(state: JobState, stepId: string, open: readonly Child[], nowMs: number): Edit[] {
  if (state.positions.length > 1) return [];
  const isParked = state.status === "parked";
  const [first] = open;
  if (first === undefined || !open.every(waitsForPerson)) return isParked ? goesOn : [];
  if (isParked && open.some(({ id }) => id === state.park?.childJobId)) return [];
  const stops = open.every(({ isClockStopped }) => isClockStopped);
  return [
    ...(isParked ? goesOn : []),
    { kind: "move", to: "parked", reason: "child" },
    { kind: "park", park: { reason: "child", stepId, since: nowMs, childJobId: first.id } },
    ...(stops ? [{ kind: "deadline", clock: "stops" } as const] : []),
  ];
}

/** Edits (changes to the job's state) that make a parked parent job run again, because one of its child jobs continues. */
export const goesOn: Edit[] = [
  { kind: "move", to: "running", reason: "child" },
  { kind: "deadline", clock: "runs" },
];

/** Returns the rest of each limit of a job that it has not used yet: tool calls, writes, rows, and questions to people. */
export function roomOf({ used, loaded: { program } }: JobState): ChildLimits {
  const { limits } = program;
  const left = (name: LimitName) => Math.max(0, limits[name] - used[name]);
  return { toolCalls: left("toolCalls"), writes: left("writes"), rows: left("rows"), asks: left("asks") };
}

/** Maximum number of times that svc sends the same call of a skill: the first attempt and three repeats. */
const timesMax = 4;

/** Returns the maximum that a skill may use of each limit, from the estimate of its program. */
export function mostOf({ callsMax, writesMax, rowsMax, asksMax }: PinnedSkill["estimate"]): ChildLimits {
  return { toolCalls: timesMax * callsMax, writes: timesMax * writesMax, rows: rowsMax, asks: asksMax };
}

/**
 * Compares, for each limit, the rest that the parent has (`room`) with the maximum that the child may need (`most`). True if the rest is
 * too small for at least one limit. False if it is enough for every limit.
 */
export function isTight(room: ChildLimits, most: ChildLimits): boolean {
  return limitNames.some((name) => room[name] < most[name]);
}

/** Returns the limits of a child job that continues: what is left (`room`) plus what the child job has already used (`used`). */
export function withUsed(room: ChildLimits, used: ChildLimits): ChildLimits {
  const sum = (name: LimitName) => room[name] + used[name];
  return { toolCalls: sum("toolCalls"), writes: sum("writes"), rows: sum("rows"), asks: sum("asks") };
}

/**
 * Returns the limits that a child job may reserve: for each limit, the smaller of `room` (what the parent job has left) and `most` (the
 * maximum for one child). What is left of `room` stays available for more child jobs.
 */
export function withinMost(room: ChildLimits, most: ChildLimits): ChildLimits {
  const within = (name: LimitName) => Math.min(room[name], most[name]);
  return { toolCalls: within("toolCalls"), writes: within("writes"), rows: within("rows"), asks: within("asks") };
}

const limitNames = ["toolCalls", "writes", "rows", "asks"] as const satisfies readonly LimitName[];

/**
 * Returns the limits of a child job: the limits of its own program (`own`), reduced to what its parent job has left (`room`).
 * `concurrency`: maximum number of calls that the child job may have in flight.
 */
export function limitsIn(room: ChildLimits, own: Limits, concurrency: number): ChildDocument["limits"] {
  const within = (name: LimitName) => Math.min(own[name], room[name]);
  return {
    toolCalls: within("toolCalls"),
    writes: within("writes"),
    rows: within("rows"),
    asks: within("asks"),
    concurrency: Math.max(1, Math.min(own.concurrency, concurrency)),
  };
}

const validators = new WeakMap<JsonSchema, SchemaValidator>();

/** Returns the input of a skill with its defaults, or the reason why the skill does not accept it. */
export function skillInput(
  { program }: Pick<LoadedProgram, "program">,
  given: JsonObject,
): { readonly input: JsonObject } | { readonly fault: CallFault } {
  const { inputSchema } = program;
  if (inputSchema === undefined) return { input: given };
  let validate = validators.get(inputSchema);
  if (validate === undefined) {
    validate = createTenantValidators()(inputSchema);
    validators.set(inputSchema, validate);
  }
  const { value, faults } = fitInput(inputSchema, validate, given);
  if (faults.length === 0) return { input: value as JsonObject };
  const plain = faults.map(({ pointer, message }) => `${pointer === "" ? "the input" : pointer} ${message}`).join("; ");
  return { fault: { code: "invalid_arguments", message: plain, plain } };
}

/** Returns a new child job that will run a skill. */
export function newChild(
  state: JobState,
  { name, skill, loaded }: LoadedSkill & { readonly name: string },
  parts: { readonly id: NewChild["id"]; readonly place: CallPlace; readonly input: JsonObject } & Pick<
    NewChild,
    "limits"
  >,
): NewChild {
  return { name, skill, program: loaded.program, generation: state.generation, ...parts };
}

/** Returns the edits that add the calls and the usage of an ended child job to its parent job. */
export function countChild(stepId: string, { used, calls = noCalls }: Pick<Child, "used" | "calls">): Edit[] {
  return [
    { kind: "use", used },
    { kind: "calls", stepId, calls },
  ];
}

/**
 * Returns the changes that take back what `countChild` has added to the parent job. Used when a child job is retried, because its use is
 * counted again when it ends.
 */
export function uncountChild(stepId: string, { used, calls = noCalls }: Child): Edit[] {
  return countChild(stepId, { used: negated(used), calls: negated(calls) });
}

function negated<Counts extends Readonly<Record<keyof Counts, number>>>(counts: Counts): Counts {
  return Object.fromEntries(Object.entries<number>(counts).map(([name, count]) => [name, 0 - count])) as Counts;
}

/**
 * Returns one undo entry of the parent job that represents all undo entries of a successful child job. Returns undefined if the child job
 * has nothing to undo, or if the parent's program declares no undo.
 */
export function undoOfChild(
  state: JobState,
  child: Child,
  { stepId, ordinal, name }: { readonly stepId: string; readonly ordinal: number; readonly name: string },
): UndoOf | undefined {
  if (!child.isUndoable || state.isSimulated || state.loaded.program.sagaOn.length === 0) return undefined;
  return { stepId, ordinal, toolSlug: name, entityId: "", args: { [undoneJob]: child.id } };
}

/** Name of the argument with a child job's id in an undo entry. Such an entry stands for all undo entries of that child job. */
export const undoneJob = "job_id";

/** Returns the result of a child job that succeeded: its declared result, or an empty object if its program declares none. */
export function childValue({ resultJson }: Child): JsonValue {
  return resultJson === "" ? {} : (parseExactJson(resultJson) as JsonValue);
}

const endCodes: Readonly<Partial<Record<JobStatus, string>>> = {
  aborted: "CHILD_ABORTED",
  cancelled: "CHILD_CANCELLED",
  expired: "CHILD_EXPIRED",
};

/**
 * Returns the error with which a child job failed, or undefined if it succeeded. A child job counts as failed if its program declares a
 * result and the result could not be computed.
 */
export function childFault(child: Child, name: string): CallFault | undefined {
  const { id, status, lastError, resultJson } = child;
  if (status === "succeeded") {
    if (lastError === "" || resultJson !== "") return undefined;
    const plain = `${name} (${id}) ended its steps, but its result could not be computed`;
    return { code: "CHILD_RESULT_FAILED", message: `${plain}: ${lastError}`, plain };
  }
  const plain = `${name} (${id}) ${status === "failed" || status === "expired" ? "has" : "was"} ${status}`;
  const message = lastError === "" ? plain : `${plain}: ${lastError}`;
  return { code: endCodes[status] ?? "CHILD_FAILED", message, plain };
}
