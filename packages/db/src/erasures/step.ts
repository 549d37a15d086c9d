import { type ErasureId, firstUuidAt, type Id, type StandingProgramId, type StandingRunId, uuidOfId } from "@svc/core";
import { and, eq, getTableName, type SQL, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { isForeignKeyViolation } from "../driver.ts";
import { requestJobCancel } from "../jobs/hold.ts";
import { type ErasedTable, erasedTables } from "../schema/erased-tables.ts";
import {
  accountReferences,
  contacts,
  dataKeys,
  erasures,
  events,
  jobPrograms,
  jobs,
  projects,
} from "../schema/index.ts";
import { skills } from "../schema/jobs.ts";
import { erasurePrograms } from "../schema/projects.ts";
import { standingPrograms, standingVersions } from "../schema/standing.ts";
import { arrayLiteral } from "../sql/statement.ts";
import { type DeletionBatch, deleteRows, note, rowsWhere } from "./delete-rows.ts";
import { type Erasure, takeErasure } from "./repo.ts";
import { eventsOfAsks, jobsOfEntity, programsOfEntity, runsOfEntity } from "./rules.ts";
import { cursorOf, isNext, isWalked, nextOfProject, scanProject, whereKey } from "./walk.ts";

const scannedJobsMax = 2_000;

/**
 * A job's id contains the time at which the id was created. This time may be up to `lateMs` milliseconds earlier than the commit that
 * stored the job. The value covers the longest transaction and the clock difference between nodes.
 */
const lateMs = 60_000;

/**
 * Progress of the search for programs that an erasure can delete. `after`: the last job whose program was read; undefined after all jobs.
 * `deleted`: number of deleted programs.
 */
type ProgramScan = { readonly after: string | undefined; readonly deleted: number };

/** Waiting times of an erasure, in milliseconds. */
export type ErasureTimes = {
  /**
   * Minimum time from the start of the erasure to its last pass over the tables. It is long enough that calls which were running at the
   * start are recorded by then.
   */
  readonly graceMs: number;
  /** Maximum time to wait for cancelled jobs to end. After that, jobs are erased even if they have not ended. */
  readonly jobsMs: number;
  /** Interval between checks of jobs that have not ended. */
  readonly pollMs: number;
};

type Phase = { readonly name: string; readonly erased: ErasedTable; readonly cancels: boolean };

/**
 * Result of a phase (the scan of one table). `after`: the last scanned row; undefined at the end of the table. `jobsLeft`: number of jobs
 * that have not ended.
 */
type PhaseProgress = { readonly after: string | undefined; readonly jobsLeft: number };

const rowsMax = 5_000;
const scannedRowsMax = 500;
/**
 * Maximum number of scans in one transaction of an erasure. One transaction contains several scans only as long as they find no rows to
 * delete.
 */
const scansMax = 20;

/** Continues one erasure by one batch. Returns the erasure's new state; undefined if no erasure has due work. */
export async function stepErasure(db: Executor, nowMs: number, times: ErasureTimes): Promise<Erasure | undefined> {
  try {
    return await takeStep(db, nowMs, times);
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    // The error means that another transaction added a row to a table that the erasure had already emptied. So the erasure begins another
    // pass over all tables.
    return await withTransaction(db, async (tx) => {
      const erasure = await takeErasure(tx, nowMs);
      if (erasure === undefined) return undefined;
      const moved = { atTable: "", atKey: "", deletedInPass: 0, jobsLeft: 0, pass: erasure.pass + 1 };
      await moveErasure(tx, erasure.id, moved);
      return { ...erasure, ...moved };
    });
  }
}

function takeStep(db: Executor, nowMs: number, times: ErasureTimes): Promise<Erasure | undefined> {
  return withTransaction(db, async (tx) => {
    let erasure = await takeErasure(tx, nowMs);
    if (erasure === undefined) return undefined;
    const { id } = erasure;
    const counts = new Map(Object.entries(erasure.counts));
    // Most tables contain nothing of the entity, so scans without a match share a transaction.
    for (let looks = 0, isOver = false; looks < scansMax && !isOver && isGoingOn(erasure, nowMs); looks++) {
      const batch: DeletionBatch = { tx, erasure, left: rowsMax, counts };
      erasure = { ...erasure, ...(await scanTable(batch, { nowMs, times })) };
      isOver = batch.left < rowsMax || batch.isOver === true;
    }
    await moveErasure(tx, id, erasure);
    return erasure;
  });
}

function isGoingOn({ finishedAt, notBefore }: Erasure, nowMs: number): boolean {
  return finishedAt === null && (notBefore === null || notBefore <= nowMs);
}

/** Scans the next rows of the erasure's current table and deletes the matching ones. Returns the changed columns of the erasure. */
async function scanTable(batch: DeletionBatch, given: StepContext): Promise<Partial<Erasure>> {
  const { erasure } = batch;
  const phases = phasesOf(erasure);
  const index = Math.max(
    0,
    phases.findIndex(({ name }) => name === erasure.atTable),
  );
  const phase = phases[index];
  if (phase === undefined) throw new Error("an erasure has no table to go through");
  const done = await runPhase(batch, phase, given);
  const change = {
    counts: Object.fromEntries(batch.counts),
    // An erasure scans all tables several times; each time is a pass. `jobsLeft` counts jobs of the present pass. At the start of a pass
    // (`atTable` is empty), the stored number is from the previous pass. It is therefore not added.
    jobsLeft: (erasure.atTable === "" ? 0 : erasure.jobsLeft) + done.jobsLeft,
    deletedInPass: erasure.deletedInPass + rowsMax - batch.left,
    state: "running" as const,
    notBefore: null,
  };
  if (done.after !== undefined) return { ...change, atTable: phase.name, atKey: done.after };
  return nextOf({ ...erasure, ...change }, phases, index, given);
}

/**
 * Returns the columns of an erasure that change after a phase (the scan of one table). They say what comes next: the next table, the first
 * table of another pass, or the end of the erasure.
 */
function nextOf(
  erasure: Erasure,
  phases: readonly Phase[],
  index: number,
  { nowMs, times }: StepContext,
): Partial<Erasure> {
  const { counts, deletedInPass, jobsLeft, pass, createdAt } = erasure;
  const rest = { counts, deletedInPass, jobsLeft, state: "running" as const, notBefore: null };
  const next = phases[index + 1];
  // After the erasure has cancelled jobs, it waits until these jobs have ended. A job needs its account, its program and its rows to end.
  // Only afterwards are they deleted.
  const isHeld = phases[index]?.cancels === true && jobsLeft > 0;
  if (next !== undefined && !isHeld) return { ...rest, atTable: next.name, atKey: "" };
  const anew = { counts, atTable: "", atKey: "", deletedInPass: 0, jobsLeft: 0, pass: pass + 1 };
  if (isHeld) return { ...anew, jobsLeft, state: "waiting", notBefore: nowMs + times.pollMs };
  if (nowMs < createdAt + times.graceMs) return { ...anew, state: "waiting", notBefore: createdAt + times.graceMs };
  if (deletedInPass > 0 || pass === 1) return { ...anew, state: "running", notBefore: null };
  return { counts, state: "done", finishedAt: nowMs, entityId: "", atTable: "", atKey: "", notBefore: null };
}

/**
 * Returns the tables to scan, in order. The table of jobs occurs twice: the first scan cancels the jobs that have not ended, and the second
 * one deletes jobs.
 */
function phasesOf({ kind }: Erasure): Phase[] {
  return erasedTables.flatMap((erased) => {
    const name = getTableName(erased.table);
    const { entity } = erased;
    const isLookedFor =
      kind === "project"
        ? erased.project !== undefined
        : entity === "as what runs them" || (typeof entity === "object" && !("none" in entity));
    if (!isLookedFor) return [];
    const phase = { name, erased, cancels: false };
    return erased.table === jobs ? [{ ...phase, name: "jobs that run", cancels: true }, phase] : [phase];
  });
}

type StepContext = { readonly nowMs: number; readonly times: ErasureTimes };

async function runPhase(batch: DeletionBatch, { erased, cancels }: Phase, given: StepContext): Promise<PhaseProgress> {
  const { erasure } = batch;
  const { project, entity, key, table } = erased;
  const own = project === undefined ? undefined : eq(project, erasure.projectId);
  const isProject = erasure.kind === "project";
  if (isKept(erased, erasure, given)) return { after: undefined, jobsLeft: 0 };
  if (entity === "as what runs them" && !isProject) return await scanPrograms(batch, given);
  if (key === undefined || (!isProject && project === undefined)) {
    const named = !isProject && typeof entity === "object" && "names" in entity ? entity.names(erasure) : undefined;
    if (table === contacts && !isProject) await keepLastApprover(batch.tx, erasure);
    const next = { projectId: erasure.projectId, after: undefined, limit: rowsMax };
    const where = isProject && isWalked(table) ? isNext(erased, next) : (and(own, named) ?? sql`false`);
    return { after: (await deleteRows(batch, erased, rowsWhere(erased, where))) ? undefined : "", jobsLeft: 0 };
  }
  const named = !isProject && typeof entity === "object" && "names" in entity ? entity.names(erasure) : sql`true`;
  const page = { projectId: erasure.projectId, after: erasure.atKey, limit: scannedRowsMax };
  const looked = await scanProject(batch.tx, erased, page, named);
  const ids = looked.named.map((uuid) => String(key.mapFromDriverValue(uuid)));
  const after = looked.next;
  const chosen = isProject ? ids : await chosenOf(batch, erased, ids);
  if (table !== jobs) {
    const isWhole = await deleteChosen(batch, erased, chosen);
    return { after: isWhole ? after : erasure.atKey, jobsLeft: 0 };
  }
  const left = await endJobs(batch, chosen as Id<"job">[], given);
  if (cancels) return { after, jobsLeft: left.size };
  const ended = (chosen as Id<"job">[]).filter((id) => !left.has(id));
  const asked = await eventsOfAsks(batch.tx, ended);
  const isWhole = (await deleteChosen(batch, tableOf(events), asked)) && (await deleteChosen(batch, erased, ended));
  return { after: isWhole ? after : erasure.atKey, jobsLeft: left.size };
}

/** Returns true if the table's rows stay until the last pass of the erasure, and this pass is not the last. */
function isKept({ table, entity }: ErasedTable, erasure: Erasure, given: StepContext): boolean {
  const { pass, kind, createdAt, deletedInPass, jobsLeft } = erasure;
  const isLast = pass > 1 && deletedInPass === 0 && jobsLeft === 0 && given.nowMs >= createdAt + given.times.graceMs;
  // An erasure makes several passes over the tables. It keeps the references of accounts until its last pass. So a post that arrives during
  // the erasure is still recognized as the entity's, and the erasure deletes it too.
  const isOfEntity = kind === "entity" && (entity === "as what runs them" || table === accountReferences);
  // Nodes need the project's row and its keys while work is running.
  const goesLast = table === projects || table === dataKeys || isOfEntity;
  return goesLast && !isLast;
}

async function scanPrograms(batch: DeletionBatch, { nowMs }: StepContext): Promise<PhaseProgress> {
  const { after, deleted } = await erasePrograms(batch.tx, batch.erasure, nowMs);
  batch.isOver = true;
  if (deleted > 0) await note(batch, getTableName(jobPrograms), deleted);
  return { after, jobsLeft: 0 };
}

async function chosenOf(
  batch: DeletionBatch,
  { entity }: ErasedTable,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (typeof entity !== "object" || !("rule" in entity)) return ids;
  const { tx, erasure } = batch;
  switch (entity.rule) {
    case "jobs":
      return await jobsOfEntity(tx, erasure, ids as Id<"job">[]);
    case "runs":
      return await runsOfEntity(tx, erasure, ids as StandingRunId[]);
    case "standing":
      return await programsOfEntity(tx, erasure, ids as StandingProgramId[]);
  }
}

function deleteChosen(batch: DeletionBatch, erased: ErasedTable, ids: readonly string[]): Promise<boolean> | true {
  const { key } = erased;
  if (ids.length === 0 || key === undefined) return true;
  const uuids = ids.map((id) => String(key.mapToDriverValue(id)));
  const isChosen = sql`= any(${arrayLiteral(uuids)}::uuid[])`;
  return deleteRows(batch, erased, rowsWhere(erased, whereKey(erased, batch.erasure.projectId, isChosen)));
}

/**
 * Keeps a project's last approver in the list of contacts, but removes the approver's name and contact channel. Without an approver, the
 * approvals that jobs of the project ask for could not be decided.
 */
async function keepLastApprover(tx: Executor, { projectId, entityId }: Erasure): Promise<void> {
  const own = sql`project_id = ${uuidOfId(projectId)}::uuid and is_approver`;
  await tx.orm.execute(sql`update contacts set reach = null, name = principal_id
    where ${own} and principal_id = (select min(principal_id) from contacts where ${own})
      and not exists (select from contacts where ${own} and reach ->> 'entityId' is distinct from ${entityId})`);
}

/**
 * Requests that jobs end, because the data of their entity (customer or user) or project is erased. Returns the jobs that have not ended
 * yet. After the maximum waiting time, does nothing and returns an empty set, so that the erasure continues without them.
 */
async function endJobs(
  { tx, erasure }: DeletionBatch,
  ids: readonly Id<"job">[],
  { nowMs, times }: StepContext,
): Promise<Set<Id<"job">>> {
  const left = new Set<Id<"job">>();
  if (nowMs >= erasure.createdAt + times.jobsMs) return left;
  const { projectId } = erasure;
  for (const jobId of ids) {
    const found = await requestJobCancel(tx, { jobId, projectId, chain: [`erasure:${erasure.id}`], nowMs });
    if (found?.isFinished === false) left.add(jobId);
  }
  return left;
}

function tableOf(table: unknown): ErasedTable {
  const found = erasedTables.find((erased) => erased.table === table);
  if (found === undefined) throw new Error("a table is not declared");
  return found;
}

/** Updates an erasure that the transaction has locked. */
async function moveErasure(tx: Executor, id: ErasureId, change: Partial<Erasure>): Promise<void> {
  await tx.orm.update(erasures).set(change).where(eq(erasures.id, id));
}

/**
 * An erasure notes the programs of the rows that it deletes. This step reads the project's next jobs, and removes the notes of programs
 * that they use. After the last job, it deletes the programs that are still noted. Returns the progress.
 */
async function erasePrograms(tx: Executor, erasure: Erasure, nowMs: number): Promise<ProgramScan> {
  const [noted] = await tx.orm.select().from(erasurePrograms).where(eq(erasurePrograms.erasureId, erasure.id)).limit(1);
  if (noted === undefined) return { after: undefined, deleted: 0 };
  const { projectId, atKey: after } = erasure;
  // The jobs are scanned, because every new job would have to write to an index of jobs by program.
  const next = nextOfProject({ table: jobs }, { projectId, after, limit: scannedJobsMax });
  const page = sql`select n.place, n.id, j.program_digest
    from (${next}) n cross join lateral (select * from ${jobs} where id = n.id offset 0) j`;
  const looked = await tx.orm.execute<{ place: string; id: string; count: number }>(
    sql`with page as materialized (${page}), used as (
      delete from ${erasurePrograms} using page where ${isNotedAs(erasure, sql`page.program_digest`)})
    select place::text as place, id::text as id, (count(*) over ())::int4 as count from page order by page.place desc, page.id desc limit 1`,
  );
  const [last] = looked;
  if (last?.count === scannedJobsMax) return { after: cursorOf(last), deleted: 0 };
  return { after: undefined, deleted: await deleteUnused(tx, erasure, nowMs) };
}

/** Deletes recorded programs that nothing uses any more, and returns their number. */
async function deleteUnused(tx: Executor, erasure: Erasure, nowMs: number): Promise<number> {
  const project = sql`${uuidOfId(erasure.projectId)}::uuid`;
  await tx.orm.execute(sql`set local lock_timeout = '2s'`);
  // A transaction that stores a job also stores its program if it is missing. If it commits before the lock, the job is visible here.
  // Otherwise it waits for the lock, and then stores the program again.
  await tx.orm.execute(sql`lock table ${jobPrograms} in share mode`);
  const uses = [
    sql`select program_digest from ${jobs} where id >= ${firstUuidAt(nowMs - lateMs)}::uuid and project_id = ${project}`,
    sql`select program_digest from ${skills} where project_id = ${project}`,
    sql`select v.program_digest from ${standingVersions} v
      where v.program_id in (select id from ${standingPrograms} where project_id = ${project})`,
  ];
  for (const use of uses)
    await tx.orm.execute(
      sql`with used as materialized (${use}) delete from ${erasurePrograms} using used where ${isNotedAs(erasure, sql`used.program_digest`)}`,
    );
  const gone = await tx.orm.execute<{ found: number }>(sql`delete from ${jobPrograms} using ${erasurePrograms}
    where ${jobPrograms.projectId} = ${project} and ${isNotedAs(erasure, sql`${jobPrograms.digest}`)} returning 1 as found`);
  await tx.orm.delete(erasurePrograms).where(eq(erasurePrograms.erasureId, erasure.id));
  return gone.length;
}

function isNotedAs({ id }: Erasure, digest: SQL): SQL {
  return sql`${erasurePrograms.erasureId} = ${uuidOfId(id)}::uuid and ${erasurePrograms.digest} = ${digest}`;
}
