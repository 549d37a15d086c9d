import type { StandingProgramId, Work } from "@svc/core";
import { type BackfillRecord, findRunningBackfill } from "@svc/db/standing/backfills";
import { readStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import { againKey, allowanceOfBackfill, dueBackfill, type PreparedBackfill } from "../backfill/decide.ts";
import { byPolicyOf, walkRange, withRuns } from "../backfill/range.ts";
import type { StandingContext } from "../context.ts";
import type { Occurrence } from "../decide/occurrence.ts";
import { findDrifts } from "../prepare/drift.ts";
import { testWhen } from "../prepare/when.ts";
import type { LoadedVersion } from "../versions.ts";
import { isRunnable, nothingPrepared, type Source, type SourceDue } from "./source.ts";

/** Maximum number of past times or events that one step of a backfill reads. */
const stepMax = 500;
/** Maximum size in bytes of the events that one step of a backfill reads. */
const bytesMax = 8_388_608;

/** Finds the due items (past times or events) of the backfills whose next step is due. It runs before the programs are locked. */
export const backfills: Source = async (context, { tasks }, { workOf, drifts }) => {
  const { db } = context;
  const ids = tasks.filter(({ kind }) => kind === "backfill").map(({ ownerId }) => ownerId);
  if (ids.length === 0) return nothingPrepared;
  await findDrifts(context, await readStandingPrograms(db, ids), drifts);
  const prepared = new Map<StandingProgramId, PreparedBackfill>();
  // The programs are read again, because a program that follows the changes of its tools may have got a new version just now.
  for (const program of await readStandingPrograms(db, ids)) {
    const record = await findRunningBackfill(db, program.id);
    if (record === undefined) continue;
    prepared.set(program.id, await prepareBackfill(context, { program, record, work: workOf(program.projectId) }));
  }
  return {
    due: async (tx, { programs, isHeld }) => {
      const due = new Map<StandingProgramId, SourceDue>();
      for (const program of programs) {
        if (!isHeld("backfill", program.id) || !isRunnable(program)) continue;
        const backfill = await dueBackfill(tx, program, prepared.get(program.id));
        if (backfill !== undefined) due.set(program.id, backfill);
      }
      return due;
    },
  };
};

async function prepareBackfill(
  context: StandingContext,
  {
    program,
    record,
    work,
  }: { readonly program: StandingProgramRecord; readonly record: BackfillRecord; readonly work: Work },
): Promise<PreparedBackfill> {
  const { version: versionNumber } = program;
  const today = await versionFor(context, program, record);
  const allowance = allowanceOfBackfill(record, context.clock.now());
  const keptFrom = context.clock.now() - context.limits.runRetentionMs;
  const of = { record, versionNumber, allowance, version: today, keptFrom };
  if (today === undefined || allowance.count === 0) return { ...of, items: [], isWhole: false };
  const version = byPolicyOf(record, today);
  const items: PreparedBackfill["items"][number][] = [];
  let [wanted, bytes] = [0, 0];
  for await (const { item, hasRun } of withRuns(context, record, walkRange(context, record, version, work))) {
    const isFull = items.length === stepMax || bytes >= bytesMax;
    if (isFull || wanted === allowance.count) return { ...of, items, isWhole: false };
    const occurrence = item.occurrence && ofBackfill(item.occurrence, record);
    // If the occurrence already has a run, the condition `when` was true when that run was made. So it is not evaluated again.
    const when =
      occurrence === undefined || hasRun ? { isDue: true } : await testWhen(context, version, occurrence, work);
    if (occurrence !== undefined && !hasRun) {
      if (work.isSliceOver()) await work.turn();
      if ("error" in when || when.isDue) wanted++;
    }
    bytes += occurrence?.event?.bytes ?? 0;
    items.push({ ...item, candidate: occurrence && { occurrence, version, when } });
  }
  return { ...of, items, isWhole: true };
}

/**
 * Returns the version of the schedule with which a backfill (runs for past times) continues. Returns undefined if the schedule's definition
 * has changed since the backfill began. Returns undefined too if the program did not need a person's approval then and needs it now. The
 * backfill then ends.
 */
async function versionFor(
  { db, versions }: Pick<StandingContext, "db" | "versions">,
  { id: programId, projectId, version }: StandingProgramRecord,
  record: BackfillRecord,
): Promise<LoadedVersion | undefined> {
  const names = [version, record.version].map((number) => ({ programId, projectId, version: number }));
  const versionOf = await versions.get(db, names);
  const [today, asked] = names.map(versionOf);
  if (today === undefined || asked === undefined) return undefined;
  const isSame = today.record.definitionHash === asked.record.definitionHash;
  // The result is undefined, and the backfill ends, if the program changed after the start of the backfill. It also ends if the plan needs
  // an approval now and did not need one then, because the person who started the backfill may not be an approver.
  if (!isSame || (today.record.needsApproval && !asked.record.needsApproval)) return undefined;
  return today;
}

/**
 * Returns a copy of an occurrence (a due time or event) for a backfill. The copy has the backfill's id and the id of the key that started
 * it. `sourceKey` identifies the occurrence, so that it starts only one run. With `again`, it contains the backfill's id, so that the
 * occurrence can start one more run.
 */
function ofBackfill(occurrence: Occurrence, { id, again, callerKeyId }: BackfillRecord): Occurrence {
  const sourceKey = again ? againKey(id, occurrence.sourceKey) : occurrence.sourceKey;
  return { ...occurrence, sourceKey, callerKeyId, backfillId: id };
}
