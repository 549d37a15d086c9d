import type { Change, Edit } from "../../state/change.ts";
import type { JobState } from "../../state/job.ts";
import type { UndoProgress } from "../../state/progress.ts";
import type { StepEffects } from "../../steps/effects.ts";
import { type InvokeResult, invoke, newTally } from "../../steps/invoke.ts";
import { systemQuestion } from "../../steps/questions.ts";
import type { InnerUndo, Port, UndoEntry } from "../port.ts";

/**
 * Returns the next change of a job that undoes its earlier calls. It undoes the latest call that is not undone yet, or ends the job if none
 * is left.
 */
export async function compensate(state: JobState, effects: StepEffects, port: Port): Promise<Change> {
  const entry = await port.nextUndo(state);
  if (entry === undefined) return conclude(state);
  const { undo: before } = state;
  if (entry.inner !== undefined && entry.inner.kind !== "call") return closeInner(state, entry, entry.inner);
  if (before?.leaves === entry.entry) return settle(state, entry, "failed");
  const { of, callId } = callOf(entry);
  const isAtHand = before?.entry === entry.entry;
  const undo = isAtHand ? before : { stepId: entry.stepId, entry: entry.entry };
  const invoked = await invoke(
    {
      call: {
        tool: of.toolSlug,
        entity: of.entityId,
        retry: { max: port.undoTries - 1, initialMs: port.undoBackoffMs, factor: 2, capMs: 60_000 },
        timeoutMs: 30_000,
      },
      place: { stepId: entry.stepId, ordinal: entry.entry, callId },
      args: of.args,
      generation: state.generation,
      secretUses: [],
      appGeneration: state.generation,
    },
    { state, tally: newTally(), effects, attempts: undo.retry?.attempts ?? 0, isUndo: true },
  );
  await port.onFaultPoint?.("mid-undo", { stepId: entry.stepId });
  return takeAnswer(state, { entry, undo, invoked, nowMs: port.clock.now() });
}

/**
 * Returns the undo entry `of` to carry out, with the id for its call. Usually `of` is `entry` itself. If `entry` stands for a whole child
 * job, `of` is the next undo entry of that child job.
 */
function callOf(entry: UndoEntry): { readonly of: UndoEntry; readonly callId: string } {
  const { inner } = entry;
  if (inner?.kind !== "call") return { of: entry, callId: "undo" };
  return { of: inner.entry, callId: `undo/${inner.jobId}/${inner.entry.entry}` };
}

/**
 * Returns the change that closes an undo entry (the stored way to undo one call). The undo entry represents a child job (the run of a
 * skill), and nothing of that child job is left to undo.
 */
function closeInner(state: JobState, entry: UndoEntry, inner: Exclude<InnerUndo, { kind: "call" }>): Change {
  const ended = inner.hasFailed ? "failed" : "done";
  if (inner.kind === "over") return settle(state, entry, ended);
  const closed = { kind: "endChildUndo", jobId: inner.jobId, entry: inner.entry.entry, state: ended } as const;
  return { edits: [closed], next: { kind: "commit" } };
}

type Undone = {
  readonly entry: UndoEntry;
  readonly undo: UndoProgress;
  readonly invoked: InvokeResult;
  readonly nowMs: number;
};

function takeAnswer(state: JobState, { entry, undo, invoked, nowMs }: Undone): Change {
  switch (invoked.kind) {
    case "ok":
      return settle(state, entry, "done");
    case "postponed": {
      const dueAt = nowMs + invoked.waitMs;
      const retry = { attempts: invoked.attempts, dueAt };
      return {
        edits: [{ kind: "undo", undo: { stepId: entry.stepId, entry: entry.entry, retry } }],
        next: { kind: "until", atMs: dueAt },
      };
    }
    case "failed":
    case "unknown":
      return stick(entry, undo, invoked.fault.code);
    case "limit":
      throw new Error("undo calls count towards no limit");
  }
}

/**
 * Returns the change that records the result of an undo call. If the undone call belongs to a child job, only the undo entry of the child
 * gets the result. The parent's entry for the whole child remains open until all entries of the child have a result.
 */
function settle(job: JobState, entry: UndoEntry, state: "done" | "failed"): Change {
  const { inner } = entry;
  if (inner?.kind === "call") {
    const ended = { kind: "endChildUndo", jobId: inner.jobId, entry: inner.entry.entry, state } as const;
    return { edits: [ended, { kind: "undo", undo: { stepId: entry.stepId } }], next: { kind: "commit" } };
  }
  const { steps, saga } = job;
  const { stepId, toolSlug } = entry;
  const { done, failed, [state]: before } = saga;
  const payload = { state, toolSlug, done, failed, [state]: before + 1 };
  const isAlways = steps.get(stepId)?.receipt.kind !== "map" || state === "failed";
  return {
    edits: [
      { kind: "endUndo", stepId, entry: entry.entry, state },
      { kind: "undo", undo: { stepId } },
      { kind: "logUndo", note: { type: "compensation-step", stepId, payload }, isAlways },
    ],
    next: { kind: "commit" },
  };
}

/** Returns the change that asks a person about an undo that cannot finish. */
function stick({ stepId, toolSlug }: UndoEntry, undo: UndoProgress, code: string): Change {
  const question = `Undoing step ${stepId} with ${toolSlug} failed (${code}). Leave it and continue, try again, or stop?`;
  return {
    edits: [
      { kind: "undo", undo },
      { kind: "saga", saga: { state: "stuck" } },
      { kind: "note", note: { type: "compensation-step", stepId, payload: { state: "stuck", toolSlug, code } } },
    ],
    next: { kind: "ask", question: systemQuestion("undo_stuck", stepId, question) },
  };
}

function conclude({ steps, saga, principalChain: chain }: JobState): Change {
  const { done, failed, cause = "failed" } = saga;
  const undone = [...steps].flatMap(
    ([
      stepId,
      {
        receipt: { undo },
      },
    ]): Edit[] => {
      const isUndone = undo !== undefined && undo.done > 0 && undo.failed === 0;
      return isUndone ? [{ kind: "receipt", stepId, state: "undone" }] : [];
    },
  );
  const payload = { state: "finished", done, failed };
  return {
    edits: [...undone, { kind: "note", note: { type: "compensation-step", stepId: "", payload } }],
    next: { kind: "finish", status: cause, reason: "compensated", chain },
  };
}
