import { type JobUndoEntry, nextJobUndoEntries } from "@svc/db";
import type { JsonObject } from "../program/program.ts";
import { ask, systemPoint } from "./ask.ts";
import { finishJob } from "./end.ts";
import { type Invoked, invoke } from "./invoke.ts";
import type { Run } from "./run.ts";
import { leaveUntil, type Next } from "./step-end.ts";

const progressPauseMs = 5_000;

/** Undoes the latest entry, or, when none is left, ends the job. */
export async function compensate(run: Run): Promise<Next> {
  await run.flush();
  const [entry] = await nextJobUndoEntries(run.db, run.job.id, 1);
  if (entry === undefined) return conclude(run);
  if (run.progress?.leaves === entry.entry) return settle(run, entry, "failed");
  if (run.progress?.next !== entry.entry) run.setProgress({ stepId: entry.stepId, next: entry.entry });
  const { limits } = run.context;
  const invoked = await invoke(run, {
    call: {
      tool: entry.toolSlug,
      entity: entry.entityId,
      retry: { max: limits.undoTries - 1, initialMs: limits.undoBackoffMs, factor: 2, capMs: 60_000 },
      timeoutMs: 30_000,
    },
    place: { stepId: entry.stepId, ordinal: entry.entry, callId: "undo" },
    args: run.seals.open(`undo/${entry.entry}`, entry.args) as JsonObject,
    attempts: run.progress?.retries?.["undo"]?.attempts ?? 0,
    appGeneration: run.job.generation,
    isUndo: true,
  });
  await run.faultPoint("mid-undo");
  return takeAnswer(run, entry, invoked);
}

async function takeAnswer(run: Run, entry: JobUndoEntry, invoked: Invoked): Promise<Next> {
  switch (invoked.kind) {
    case "ok":
      return settle(run, entry, "done");
    case "postponed": {
      const dueAt = run.now + invoked.waitMs;
      run.setProgress({
        stepId: entry.stepId,
        next: entry.entry,
        retries: { undo: { attempts: invoked.attempts, dueAt } },
      });
      return leaveUntil(run, dueAt);
    }
    case "failed":
    case "unknown":
      return stick(run, entry, invoked.fault.code);
    case "limit":
      throw new Error("undo calls count towards no limit");
  }
}

async function settle(run: Run, entry: JobUndoEntry, state: "done" | "failed"): Promise<Next> {
  const { stepId } = entry;
  run.changeUndo({ entry: entry.entry, state });
  run.saga = { ...run.saga, [state]: run.saga[state] + 1 };
  const before = run.receiptOf(stepId).undo ?? { done: 0, failed: 0 };
  run.patchReceipt(stepId, { undo: { ...before, [state]: before[state] + 1 } });
  run.setProgress({ stepId });
  const isRow = run.receiptOf(stepId).kind === "map";
  if (!isRow || state === "failed" || run.now - run.progressLoggedAt >= progressPauseMs) {
    run.progressLoggedAt = run.now;
    run.note("compensation-step", stepId, {
      state,
      toolSlug: entry.toolSlug,
      done: run.saga.done,
      failed: run.saga.failed,
    });
  }
  await run.commit("keep");
  return "on";
}

/** An undo that cannot finish is a person's to decide on. */
function stick(run: Run, entry: JobUndoEntry, code: string): Promise<Next> {
  run.saga = { ...run.saga, state: "stuck" };
  run.note("compensation-step", entry.stepId, { state: "stuck", toolSlug: entry.toolSlug, code });
  const question = `Undoing step ${entry.stepId} by ${entry.toolSlug} did not work (${code}). Leave it and go on, try again, or stop?`;
  return ask(run, entry.stepId, systemPoint("undo_stuck", question));
}

async function conclude(run: Run): Promise<Next> {
  for (const [stepId, { receipt }] of run.steps) {
    const { undo } = receipt;
    if (undo !== undefined && undo.done > 0 && undo.failed === 0) run.patchReceipt(stepId, { state: "undone" });
  }
  const { done, failed, cause = "failed" } = run.saga;
  run.note("compensation-step", "", { state: "finished", done, failed });
  return finishJob(run, cause, { reason: "compensated", chain: run.chain });
}
