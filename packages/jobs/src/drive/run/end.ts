import { holdsMoreThan } from "@svc/core";
import { type ResolveFault, resolveResult } from "@svc/program";
import { redactTexts } from "@svc/tools";
import { apply, type Work } from "../../state/apply.ts";
import type { Change, Edit, Next } from "../../state/change.ts";
import { endCodeOf } from "../../state/end-codes.ts";
import { stepOf } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import { shownOf } from "../../state/shown.ts";
import { argumentBounds, withComputed } from "../../steps/arguments.ts";
import type { LockedJob, Port } from "../port.ts";
import { receiptOf } from "./receipt.ts";

const resultBytesMax = 16_384;

type NextOf<Kind extends Next["kind"]> = Extract<Next, { kind: Kind }>;

/** A step fails because a limit of the job is reached. */
export function limitOf(state: JobState, { stepId, limit }: NextOf<"limit">): Change {
  const max = state.loaded.program.limits[limit];
  const message = `the job's limit of ${max} ${limit} is reached`;
  return {
    edits: [{ kind: "note", note: { type: "limit-reached", stepId, payload: { limit, max } } }],
    next: { kind: "fail", stepId, code: "LIMIT_REACHED", message },
  };
}

/** A job ends, or begins to undo first, where its program declares that for this cause and there is something to undo. */
export function endOf(state: JobState, { cause, chain }: NextOf<"end">): Change {
  const undoes = state.loaded.program.sagaOn.includes(cause) && state.saga.entries > 0 && !state.isSimulated;
  if (!undoes) return { edits: [], next: { kind: "finish", status: cause, reason: cause, chain } };
  return {
    edits: [
      ...closeOpenSteps(state, cause),
      { kind: "move", to: "compensating", reason: cause, chain },
      { kind: "saga", saga: { state: "compensating", cause } },
      { kind: "deadline", clock: "stops" },
      { kind: "undo", undo: { stepId: "" } },
    ],
    next: { kind: "undo", chain },
  };
}

/** Ends a job for good: status, receipt, log and the end of its task and pending ask are one commit. */
export async function finish(work: Work, { status, reason, chain }: NextOf<"finish">, port: Port): Promise<void> {
  const { state } = work;
  const { saga, used, plan, planApprovalId, simulatedFrom } = state;
  const closed = apply(
    work,
    [
      ...closeOpenSteps(state, status),
      { kind: "deadline", clock: "stops" },
      ...(saga.state === "compensating" ? [{ kind: "saga", saga: { state: "compensated" } } as const] : []),
      ...(simulatedFrom === null ? [] : [{ kind: "wakeJob", jobId: simulatedFrom } as const]),
    ],
    port.clock.now(),
  );
  // What it names is there by now, and nothing that may take long is done under a lock.
  const hasRun = status === "succeeded" && !state.isRehearsal;
  const result = hasRun ? await resultOf(closed.state, port) : { text: "" };
  const end: readonly Edit[] = [
    { kind: "move", to: status, reason, chain },
    { kind: "end" },
    // One that cannot be given is told in the job's last error.
    ...("fault" in result ? [{ kind: "lastError", message: result.fault } as const] : []),
  ];
  const resultJson = "text" in result ? result.text : "";
  // Only a job that has asked has an ask to withdraw.
  const hasAsked = used.asks > 0 || plan?.askId !== undefined || planApprovalId !== "" || saga.state === "stuck";
  if (hasAsked) return port.locked((job) => finishLocked(closed, { end, chain, resultJson }, { job, port }));
  const ended = apply(closed, end, port.clock.now());
  // One statement, as long as nobody else has written to the log since: the receipt names its last entry.
  const lastSeq = state.lastSeq + ended.pending.events.length;
  const receipt = receiptOf(ended.state, { resultJson, lastSeq, asks: [] }, port);
  if (!(await port.commitUnlessLogged(ended, { task: "end", receipt }))) {
    const rest = { end: [], chain: undefined, resultJson };
    await port.locked((job) => finishLocked(ended, rest, { job, port }));
  }
}

type JobEnd = {
  readonly end: readonly Edit[];
  readonly chain: readonly string[] | undefined;
  readonly resultJson: string;
};
type UnderLock = { readonly job: LockedJob; readonly port: Port };

/** Under the job's lock. With a chain, what is still asked is withdrawn by it first. */
async function finishLocked(work: Work, { end, chain, resultJson }: JobEnd, { job, port }: UnderLock): Promise<void> {
  const { events, asks } = await job.closeAsks(chain);
  const withdrawn: Edit[] = chain === undefined ? [] : [{ kind: "withdrawn", events }];
  const ended = apply(work, [...withdrawn, ...end], port.clock.now());
  const lastSeq = job.lastSeq + ended.pending.events.length;
  const receipt = receiptOf(ended.state, { resultJson, lastSeq, asks }, port);
  await job.commit(ended, { task: "end", receipt });
}

/** A step that was at work when its job ended did not complete. */
function closeOpenSteps({ steps, loaded }: JobState, cause: string): Edit[] {
  const open = [...steps].filter(([, { receipt }]) => receipt.state === "");
  if (open.length === 0) return [];
  const code = endCodeOf(cause);
  return open.flatMap(([stepId]) => {
    if (cause === "succeeded") throw new Error(`step ${stepId} is at work at the job's end`);
    const { index } = stepOf(loaded.flow, stepId);
    return [
      { kind: "error", stepId, code, ordinal: 0, message: "the job ended before the step did" } as const,
      { kind: "finish", stepId, state: "failed", to: index, isCut: true } as const,
    ];
  });
}

/**
 * The declared result of a job that succeeded, as JSON text; what has no value is null in it, and what
 * is sensitive is `***`, for its expressions too. Empty when none is declared.
 */
async function resultOf(
  state: JobState,
  { compute, clock }: Pick<Port, "compute" | "clock">,
): Promise<{ readonly text: string } | { readonly fault: string }> {
  const { result } = state.loaded.program;
  if (result.length === 0) return { text: "" };
  // Where nothing is sensitive the job is shown as it is.
  const shown = state.loaded.hasSensitive ? shownOf(state) : undefined;
  const { scope } = shown ?? state;
  const templates = result.map(([, template]) => template);
  const ready = await withComputed(templates, { ...scope, now: clock.now() }, { compute });
  const resolved = "fault" in ready ? ready : resolveResult(result, ready.value);
  if ("fault" in resolved) return { fault: faultOfResult(resolved.fault) };
  // A great many long texts have no JSON text at all.
  const isHuge = holdsMoreThan(resolved.value, argumentBounds);
  const text = isHuge
    ? undefined
    : JSON.stringify(shown === undefined ? resolved.value : redactTexts(resolved.value, shown.redact));
  if (text !== undefined && Buffer.byteLength(text) <= resultBytesMax) return { text };
  return { fault: `RESULT_TOO_LARGE: the result has more than ${resultBytesMax} bytes` };
}

/** Its place says that it is the result which is at fault, and no step. What is computed names it already. */
function faultOfResult({ code, message, pointer }: ResolveFault): string {
  return `${code}: ${message.endsWith(pointer) ? message : `${message}, at ${pointer}`}`;
}
