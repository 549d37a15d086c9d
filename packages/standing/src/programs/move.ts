import {
  clearDueTasks,
  type Executor,
  findUsableKeys,
  lockStandingPrograms,
  type NewDueTask,
  putDueTasks,
  type StandingProgramRecord,
  standingProgramsForProject,
  standingRunsForProject,
  withTransaction,
} from "@svc/db";
import type { StandingContext } from "../engine/context.ts";
import { pauseCauseStands, standingProgramNotFound } from "../errors.ts";
import { fireTimeOf, firstOfSource, isOver, taskKindOf } from "../schedule/due.ts";
import { listen, stopListening } from "./listen.ts";

/** Lets a program start nothing until it is resumed. */
export function pauseProgram(
  { db, clock }: StandingContext,
  { id }: StandingProgramRecord,
  cancelsRunning: boolean,
): Promise<void> {
  return withTransaction(db, async (tx) => {
    const nowMs = clock.now();
    const program = await locked(tx, id);
    if (cancelsRunning) await cancelJobs(tx, program, nowMs);
    if (program.state === "paused") return;
    await standingProgramsForProject(tx, program.projectId).change(id, {
      state: "paused",
      pauseReason: "requested",
      pauseDetail: "",
      updatedAt: nowMs,
    });
    await clearDueTasks(tx, id, ["fire", "poll", "admit", "close"]);
    await stopListening(tx, program, { reason: "paused", nowMs });
  });
}

/** Lets a paused program go on from now. Throws PAUSE_CAUSE_STANDS. */
export function resumeProgram(
  { db, clock, versions, starter }: StandingContext,
  { id }: StandingProgramRecord,
): Promise<void> {
  return withTransaction(db, async (tx) => {
    const nowMs = clock.now();
    const program = await locked(tx, id);
    if (program.state !== "paused") return;
    const name = { programId: id, projectId: program.projectId, version: program.version };
    const { record, definition, program: plan } = (await versions.get(tx, [name]))(name);
    const usable = await findUsableKeys(tx, [record.keyId], nowMs);
    if (!usable.has(record.keyId))
      throw pauseCauseStands(`key ${record.keyId}, whose jobs the runs are, is revoked or has expired`);
    const isHeld =
      !record.needsApproval && (await starter.isHeldByPolicy(tx, program.projectId))({ program: plan, ...record });
    if (isHeld) throw pauseCauseStands("the project's policy has the plan wait for approval");
    const nextAt = firstOfSource(definition.source, nowMs);
    await standingProgramsForProject(tx, program.projectId).change(id, {
      state: isOver(definition.source, nextAt) ? "ended" : "active",
      ...{ pauseReason: "", pauseDetail: "", failuresInRow: 0, nextAt, updatedAt: nowMs },
    });
    await clearDueTasks(tx, id, ["fire", "poll"]);
    const task = { ownerId: id, projectId: program.projectId, subject: "" };
    await listen(tx, program, definition.source);
    const dueAt = fireTimeOf(id, nextAt, definition.source);
    const tasks: NewDueTask[] = [{ ...task, kind: "admit", dueAt: nowMs }];
    if (definition.source.kind === "trigger") tasks.push({ ...task, kind: "close", dueAt: nowMs });
    if (dueAt !== null) tasks.push({ ...task, kind: taskKindOf(definition.source), dueAt });
    await putDueTasks(tx, tasks);
  });
}

/** Ends a program for good. */
export function deleteProgram(
  { db, clock }: StandingContext,
  { id }: StandingProgramRecord,
  cancelsRunning: boolean,
): Promise<void> {
  return withTransaction(db, async (tx) => {
    const nowMs = clock.now();
    const program = await locked(tx, id);
    if (cancelsRunning) await cancelJobs(tx, program, nowMs);
    await standingRunsForProject(tx, program.projectId).skipOpen(id, "deleted", nowMs);
    await clearDueTasks(tx, id, ["fire", "poll", "admit", "close"]);
    if (program.state !== "paused") await stopListening(tx, program, { reason: "deleted", nowMs });
    await standingProgramsForProject(tx, program.projectId).change(id, { deletedAt: nowMs, updatedAt: nowMs });
  });
}

/** Throws STANDING_PROGRAM_NOT_FOUND for one that was deleted meanwhile. */
async function locked(tx: Executor, id: StandingProgramRecord["id"]): Promise<StandingProgramRecord> {
  const [program] = await lockStandingPrograms(tx, [id]);
  if (program === undefined || program.deletedAt !== null) throw standingProgramNotFound("id", id);
  return program;
}

/** Makes it due that the jobs of a program end: each is asked in a transaction of its own. */
async function cancelJobs(
  tx: Executor,
  { id: ownerId, projectId }: StandingProgramRecord,
  nowMs: number,
): Promise<void> {
  const jobs = await standingRunsForProject(tx, projectId).listStartedJobs(ownerId);
  await putDueTasks(
    tx,
    jobs.map((subject) => ({ ownerId, kind: "cancel", subject, projectId, dueAt: nowMs })),
  );
}
