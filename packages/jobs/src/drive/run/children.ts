import { type Executor, withTransaction } from "@svc/db/connect";
import { type ChildRecord, lockChildJobs, readChildJobs } from "@svc/db/jobs/children";
import { requestJobCancel } from "@svc/db/jobs/hold";
import { loadJob } from "@svc/db/jobs/load";
import type { Change, ChildStanding, Edit } from "../../state/change.ts";
import type { JobState } from "../../state/job.ts";
import { isEnd } from "../../state/statuses.ts";
import { awaited, countChild, standingOf, standWith, undoOfChild } from "../../steps/children.ts";
import type { Child, StepEffects } from "../../steps/effects.ts";
import type { Port } from "../port.ts";
import type { CommitContext, Commits } from "../store/commit.ts";

/** Operations by which a running job reads and changes its child jobs (jobs that its steps started). */
export type ChildPort = Pick<StepEffects, "loadSkill" | "readChildren" | "whyNotTakenOn"> &
  Pick<Port, "awaitChildren" | "cancelChildren">;

/** Returns the functions with which a running job reads and changes its child jobs in the database. */
export function createChildPort({ context, db }: CommitContext, commit: Commits["commit"]): ChildPort {
  const { clock } = context;
  return {
    async loadSkill({ projectId, loaded }, name) {
      const skill = loaded.skills[name];
      if (skill === undefined) throw new Error(`the pins of a job lack ${name}`);
      return { skill, loaded: await context.programs.get(db, projectId, Buffer.from(skill.digest, "hex")) };
    },
    async readChildren(_state, ids) {
      const found = new Map((await readChildJobs(db, ids)).map((child) => [child.id, child]));
      return ids.flatMap((id) => {
        const child = found.get(id);
        return child === undefined ? [] : [childOf(child)];
      });
    },
    whyNotTakenOn: (_state, id) => context.whyNotTakenOn(db, id),
    async awaitChildren(work, { children, askId, atMs = Number.POSITIVE_INFINITY }) {
      const { deadline } = work.state;
      const isClockRunning = "atMs" in deadline && deadline.atMs > clock.now();
      const dueAtMs = isClockRunning ? Math.min(deadline.atMs, atMs) : atMs;
      const task = dueAtMs === Number.POSITIVE_INFINITY ? "end" : { dueAtMs };
      const isNew = new Set([...work.pending.children, ...work.pending.retried].map(({ id }) => id));
      const known = children.flatMap(({ id }) => (isNew.has(id) ? [] : [id]));
      if (known.length === 0 && askId === undefined) {
        await commit(work, { task });
        return;
      }
      // The locks make a concurrent change of a child job wait until this commit has ended. That change then makes the parent's task due. A
      // change before the locks is found here by comparing the states of the children.
      await withTransaction(db, async (tx) => {
        const found = await lockChildJobs(tx, known);
        const hasMoved = found.some((child) => standingOf(standing(child)) !== seen(children, child.id));
        const isSettled = askId !== undefined && !(await isPending(context, tx, { jobId: work.state.id, askId }));
        await commit(work, { task: hasMoved || isSettled ? { dueAtMs: clock.now() } : task }, tx);
      });
    },
    async cancelChildren({ projectId }, ids, chain) {
      for (const jobId of ids) await requestJobCancel(db, { jobId, projectId, chain, nowMs: clock.now() });
      context.onDue();
    },
  };
}

/** Locks the job, and returns true if the ask is pending. Because of the lock, the ask cannot change before the transaction ends. */
async function isPending(
  { asks }: CommitContext["context"],
  tx: Executor,
  { jobId, askId }: { readonly jobId: Child["id"]; readonly askId: string },
): Promise<boolean> {
  await loadJob(tx, jobId, { lock: true });
  return (await asks.list(tx, jobId)).some(({ id, state }) => id === askId && state === "pending");
}

function seen(children: readonly ChildStanding[], id: Child["id"]): string | undefined {
  return children.find((child) => child.id === id)?.standing;
}

function standing({ status, park }: Pick<ChildRecord, "status" | "park">): Pick<Child, "status" | "parkReason"> {
  return { status, parkReason: park?.reason ?? "" };
}

function childOf(record: ChildRecord): Child {
  const { id, child, deadlineAt, cancelRequestedAt, used, saga, lastError, receipt, status } = record;
  return {
    id,
    ...standing(record),
    isClockStopped: deadlineAt === null,
    isCancelRequested: cancelRequestedAt !== null,
    used,
    limits: child?.limits ?? { ...used, concurrency: 1 },
    calls: receipt?.calls,
    outcome: receipt?.outcome ?? "",
    resultJson: receipt?.resultJson ?? "",
    lastError,
    isUndoable: status === "succeeded" && saga.state === "armed" && saga.entries > 0,
  };
}

/** A child job that has not ended, with the step and the row of the parent job that started it. */
export type OpenChild = {
  readonly id: Child["id"];
  readonly stepId: string;
  readonly ordinal: number;
  readonly name: string;
};

/** Returns the child jobs of a job that are running, each with the step and the row that started it. */
export function openChildren({ positions, loaded }: JobState): readonly OpenChild[] {
  return positions.flatMap(({ index, progress }): OpenChild[] => {
    const instruction = loaded.flow.instructions[index];
    // A failed step has no running child job, because its child has already ended.
    if (instruction?.kind !== "step" || progress?.hasFailed === true) return [];
    const { step } = instruction;
    if (step.kind === "run" && progress?.kind === "run") {
      const { childId: id } = progress;
      return id === undefined ? [] : [{ id, stepId: step.id, ordinal: 0, name: step.skill }];
    }
    if (step.kind !== "map" || progress?.kind !== "map") return [];
    return Object.entries(progress.children ?? {}).flatMap(([place, id]): OpenChild[] => {
      const [ordinal = 0, index = 0] = place.split("/").map(Number);
      const call = step.calls[index];
      return call?.kind === "run" ? [{ id, stepId: step.id, ordinal, name: call.skill }] : [];
    });
  });
}

/**
 * Returns the next change of a job that must end while its child jobs are running. The change requests their end and waits for it, or adds
 * the counts of the ended children to the job. Returns undefined if the job has no open child.
 */
export async function endChildren(state: JobState, chain: readonly string[], port: Port): Promise<Change | undefined> {
  const open = openChildren(state);
  if (open.length === 0) return undefined;
  const found = await port.readChildren(
    state,
    open.map(({ id }) => id),
  );
  const running = found.filter(({ status }) => !isEnd(status));
  if (running.length === 0) {
    const taken = open.flatMap((one) => takenEdits(state, one, found));
    return { edits: [...taken, ...withoutChildren(state)], next: { kind: "on" } };
  }
  const asked = running.filter(({ isCancelRequested }) => !isCancelRequested).map(({ id }) => id);
  await port.cancelChildren(state, asked, chain);
  const stepId = open[0]?.stepId ?? "";
  return {
    edits: standWith(state, stepId, running, port.clock.now()),
    next: { kind: "await", children: running.map(awaited) },
  };
}

function takenEdits(state: JobState, { id, stepId, ordinal, name }: OpenChild, found: readonly Child[]): Edit[] {
  const child = found.find((one) => one.id === id);
  const undo = child && undoOfChild(state, child, { stepId, ordinal, name });
  return [
    ...(child === undefined ? [] : countChild(stepId, child)),
    ...(undo === undefined ? [] : [{ kind: "armUndo", entries: [undo] } as const]),
  ];
}

function withoutChildren({ positions }: JobState): Edit[] {
  return positions.flatMap(({ progress }): Edit[] => {
    if (progress?.hasFailed === true) return [];
    if (progress?.kind === "run" && progress.childId !== undefined) {
      const { stepId, childId: endedId } = progress;
      return [{ kind: "progress", progress: { kind: "run", stepId, endedId } }];
    }
    if (progress?.kind !== "map") return [];
    const endedChildren = { ...progress.endedChildren, ...progress.children };
    return [{ kind: "progress", progress: { ...progress, children: {}, endedChildren } }];
  });
}
