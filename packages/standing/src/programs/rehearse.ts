import { createId, quotaFaults } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { findJobQuotaReached, insertJobsInRoom } from "@svc/db/jobs/insert-batch";
import type { NewJob } from "@svc/db/jobs/new-job";
import {
  clearDueTasks,
  decideStandingVersion,
  loadStandingVersions,
  lockStandingPrograms,
  type StandingProgramRecord,
  type StandingVersionRecord,
  standingProgramsForProject,
} from "@svc/db/standing/programs";
import { putDueTasks } from "@svc/db/standing/settle-tasks";
import type { EndedRehearsal } from "@svc/jobs";
import type { StandingContext } from "../engine/context.ts";
import { firstOfSource } from "../schedule/due.ts";
import { titleOf } from "../versions.ts";
import { activate } from "./activate.ts";

/** A version that people are to be asked about. */
export type Rehearsed = Pick<
  StandingVersionRecord,
  "programId" | "programHash" | "programDigest" | "estimate" | "keyId"
> &
  Pick<
    Parameters<StandingContext["starter"]["rehearse"]>[1],
    "projectId" | "binding" | "program" | "input" | "simulateFirst"
  > & {
    readonly nowMs: number;
  };

/** Makes the job by which people are asked about a version whose program is kept, and its simulation; nothing is stored. */
export function makeRehearsal({ starter }: StandingContext, tx: Executor, version: Rehearsed): Promise<NewJob[]> {
  const { programId, keyId, programDigest, nowMs, ...facts } = version;
  return starter.rehearse(tx, {
    ...facts,
    ...{ keyId, nowMs, digest: programDigest },
    id: createId("job", nowMs),
    principalChain: [`key:${keyId}`, `standing:${programId}`],
    standing: { programId, runId: null, callSeed: null, restoredFrom: null },
  });
}

/** Stores a rehearsal. Throws QUOTA_JOBS where its project has no room for it. */
export async function storeRehearsal(tx: Executor, jobs: readonly NewJob[], nowMs: number): Promise<void> {
  const without = await insertJobsInRoom(tx, jobs, nowMs);
  const projectId = jobs[0]?.job.projectId;
  if (without.size > 0 && projectId !== undefined) {
    const reached = await findJobQuotaReached(tx, projectId, jobs.length);
    if (reached === undefined) throw new Error("a rehearsal found no room, and there is some");
    throw quotaFaults.jobs(reached.quotaReached);
  }
  for (const { also } of jobs) await also?.(tx);
}

/** Ends what waits for approval of a locked program, since another version takes its place, or none does. */
export async function supersede(
  tx: Executor,
  { id: programId, projectId, pendingVersion: version }: StandingProgramRecord,
  nowMs: number,
): Promise<void> {
  if (version === 0) return;
  const [pending] = await loadStandingVersions(tx, [{ programId, version }]);
  await decideStandingVersion(tx, { programId, version }, { approval: "superseded" });
  // Its row is not to be locked behind the program's: who answers holds it, and waits for that.
  if (pending?.rehearsalJobId === null || pending === undefined) return;
  const subject = pending.rehearsalJobId;
  await putDueTasks(tx, [{ ownerId: programId, kind: "cancel", subject, projectId, dueAt: nowMs }]);
}

/**
 * Lets a version run whose rehearsal was approved, or rejects it, in the transaction that ends the rehearsal. One that another version
 * took the place of meanwhile is left as it is.
 */
export async function settleRehearsal(
  { clock, versions, meter }: StandingContext,
  tx: Executor,
  { programId, jobId, status, planApprovalId: approvalId, lastError }: EndedRehearsal,
): Promise<void> {
  const nowMs = clock.now();
  const [program] = await lockStandingPrograms(tx, [programId]);
  if (program === undefined || program.deletedAt !== null || program.pendingVersion === 0) return;
  const { projectId, pendingVersion: version } = program;
  const name = { programId, projectId, version };
  const { record, ...loaded } = (await versions.get(tx, [name]))(name);
  if (record.rehearsalJobId !== jobId) return;
  if (status === "succeeded") {
    await decideStandingVersion(tx, name, { approval: "granted", approvalId, grantedVersion: version });
    const { definition } = loaded;
    const firstAt = await firstOfSource(definition.source, nowMs, meter.begin({ projectId }));
    await activate(tx, program, { version, title: titleOf(loaded), definition, firstAt, nowMs });
    return;
  }
  await decideStandingVersion(tx, name, { approval: "rejected", approvalId });
  const detail = status === "failed" ? `: its simulation failed: ${lastError}` : "";
  await standingProgramsForProject(tx, projectId).change(programId, {
    pendingVersion: 0,
    updatedAt: nowMs,
    ...(program.state === "pending" && {
      state: "paused",
      pauseReason: "approval",
      pauseDetail: `version ${version} was not approved${detail}`.slice(0, 1_000),
    }),
  });
  await clearDueTasks(tx, programId, program.state === "pending" ? ["fire"] : []);
}
