import type { ProjectPrincipal } from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import type { StandingPauseReason } from "@svc/db/schema/words";
import { cancelBackfill, findRunningBackfill } from "@svc/db/standing/backfills";
import { findUsableKeys } from "@svc/db/standing/bounds";
import {
  clearDueTasks,
  loadStandingVersions,
  lockStandingPrograms,
  type StandingProgramRecord,
  standingProgramsForProject,
} from "@svc/db/standing/programs";
import { standingRunsForProject } from "@svc/db/standing/runs";
import { putDueTasks } from "@svc/db/standing/task";
import type { StandingContext } from "../context.ts";
import { checkDefinition } from "../definition/check.ts";
import { standingFaults } from "../errors.ts";
import { driftText } from "../prepare/drift.ts";
import { firstOfSource, isOver } from "../schedule/due.ts";
import { type LoadedVersion, openDefinition } from "../versions.ts";
import { arm, isSubscribed, supersede, unsubscribe } from "./activate.ts";
import { makeNextVersion } from "./next-version.ts";

/** Pauses a standing program (a schedule): no run starts until a caller resumes it. */
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
      // A program in state `pending` stays in this state, because it still waits for its approval. The pause begins after the approval.
      ...(program.state !== "pending" && { state: "paused" }),
      pauseReason: "requested",
      pauseDetail: "",
      updatedAt: nowMs,
    });
    await clearDueTasks(tx, id, ["fire", "poll", "admit", "close", "backfill"]);
    if (isSubscribed(program)) await unsubscribe(tx, program, { reason: "paused", nowMs });
  });
}

/**
 * Ends the pause of a schedule. With `adopts`, the schedule uses the current definitions of its tools. Throws the errors of
 * ResumeStandingProgram.
 */
export async function resumeProgram(
  context: StandingContext,
  principal: ProjectPrincipal,
  { program, adopts }: { readonly program: StandingProgramRecord; readonly adopts: boolean },
): Promise<void> {
  if (program.state === "paused" && program.pauseReason === "drift") {
    if (adopts) return adopt(context, principal, program);
    await assertNoDrift(context, program);
  } else if (program.state === "paused" && adopts) await adopt(context, principal, program);
  await resume(context, principal, program);
}

/**
 * Creates a new version of a standing program (a schedule). The definition stays the same, but the version uses the tools as they are
 * defined now. If its plan needs approval, the version runs after the approval; otherwise it runs at once.
 */
async function adopt(context: StandingContext, principal: ProjectPrincipal, program: StandingProgramRecord) {
  const { db, clock, sealer } = context;
  const { id: programId, projectId, version, binding } = program;
  const [stored] = await loadStandingVersions(db, [{ programId, version }]);
  if (stored === undefined) throw new Error(`version ${version} of ${programId} is missing in the database`);
  if (stored.needsApproval && principal.role !== "approver") throw standingFaults.APPROVER_ROLE_REQUIRED();
  const definitionJson = openDefinition(sealer, { programId, projectId, version }, stored.definition);
  const { role } = principal;
  const checked = await checkDefinition(context, {
    ...{ projectId, role, binding, definitionJson },
    nowMs: clock.now(),
    isStored: true,
  });
  if ("refusal" in checked) throw checked.refusal;
  await withTransaction(db, async (tx) => {
    const held = await locked(tx, programId);
    const next = { program: held, definitionJson, checked, simulates: false, note: "" };
    await makeNextVersion(context, tx, principal, next);
  });
}

/** Throws PAUSE_CAUSE_STANDS if the tools of a program have changed since its version was made. */
async function assertNoDrift({ db, versions, starter }: StandingContext, program: StandingProgramRecord) {
  const { id: programId, projectId, version } = program;
  const name = { programId, projectId, version };
  const { record } = (await versions.get(db, [name]))(name);
  const drift = await starter.driftOf(projectId, record.programDigest);
  if (drift.length > 0)
    throw standingFaults.PAUSE_CAUSE_STANDS(`tools that it uses have changed: ${driftText(drift).slice(0, 500)}`);
}

function resume(
  context: StandingContext,
  { role }: Pick<ProjectPrincipal, "role">,
  { id }: StandingProgramRecord,
): Promise<void> {
  const { db, clock, versions, meter } = context;
  return withTransaction(db, async (tx) => {
    const nowMs = clock.now();
    const program = await locked(tx, id);
    const programs = standingProgramsForProject(tx, program.projectId);
    const isAsked = program.state === "pending" && program.pauseReason !== "";
    if (program.state !== "paused" && !isAsked) return;
    const name = { programId: id, projectId: program.projectId, version: program.version };
    const version = (await versions.get(tx, [name]))(name);
    if (version.record.needsApproval && role !== "approver") throw standingFaults.APPROVER_ROLE_REQUIRED();
    // The program still waits for its approval. So only the pause is removed that would begin after the approval.
    if (isAsked) return programs.change(id, { pauseReason: "", updatedAt: nowMs });
    const cause = await causeOf(context, tx, program, version);
    if (cause !== undefined) throw standingFaults.PAUSE_CAUSE_STANDS(cause);
    const { definition } = version;
    const { source } = definition;
    const nextAt = await firstOfSource(source, nowMs, meter.begin({ projectId: program.projectId }));
    await programs.change(id, {
      state: isOver(source, nextAt) ? "ended" : "active",
      ...{ pauseReason: "", pauseDetail: "", failuresInRow: 0, nextAt, updatedAt: nowMs },
    });
    await clearDueTasks(tx, id, ["fire", "poll"]);
    await arm(tx, program, { nextAt, source, nowMs, admits: true });
  });
}

/** Reasons for a pause that can be ended even while a newer version of the schedule waits for approval. */
const ofRunningVersion: ReadonlySet<StandingPauseReason> = new Set(["requested", "failures", "fail_step"]);

/** Returns why a paused program cannot be resumed; undefined if it can. */
async function causeOf(
  { starter, clock }: StandingContext,
  tx: Executor,
  { projectId, pendingVersion, pauseReason }: StandingProgramRecord,
  { record, program }: LoadedVersion,
): Promise<string | undefined> {
  const { version, keyId, approval, needsApproval, estimate } = record;
  if (approval === "rejected") return `version ${version} was not approved`;
  if (pendingVersion !== 0 && !ofRunningVersion.has(pauseReason)) return `version ${pendingVersion} waits for approval`;
  const usable = await findUsableKeys(tx, [keyId], clock.now());
  if (!usable.has(keyId)) return `the key ${keyId}, which owns the runs, was revoked or has expired`;
  const isHeld = !needsApproval && (await starter.isHeldByPolicy(tx, projectId))({ program, estimate });
  return isHeld ? "the project's policy requires approval of the plan" : undefined;
}

/**
 * Deletes a program. Its waiting runs are skipped, and its backfill and its subscription end. `cancelsRunning`: true if the jobs of its
 * started runs are cancelled; if false, they run to their end.
 */
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
    await clearDueTasks(tx, id, ["fire", "poll", "admit", "close", "backfill"]);
    await supersede(tx, program, nowMs);
    const backfill = await findRunningBackfill(tx, id);
    if (backfill !== undefined) await cancelBackfill(tx, backfill, { reason: "deleted", nowMs });
    if (isSubscribed(program)) await unsubscribe(tx, program, { reason: "deleted", nowMs });
    await standingProgramsForProject(tx, program.projectId).change(id, {
      pendingVersion: 0,
      deletedAt: nowMs,
      updatedAt: nowMs,
    });
  });
}

/** Locks a program. Throws STANDING_PROGRAM_NOT_FOUND if it was deleted meanwhile. */
async function locked(tx: Executor, id: StandingProgramRecord["id"]): Promise<StandingProgramRecord> {
  const [program] = await lockStandingPrograms(tx, [id]);
  if (program === undefined || program.deletedAt !== null) throw standingFaults.STANDING_PROGRAM_NOT_FOUND("id", id);
  return program;
}

/** Adds one task for each running job of a program. The task later cancels the job in a transaction of its own. */
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
