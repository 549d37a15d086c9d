import { type Allowance, allowanceOf, type StandingProgramId, type Work } from "@svc/core";
import type { StandingRunState } from "@svc/db/schema/words";
import { type BackfillRecord, findRunningBackfill, findSourceRuns } from "@svc/db/standing/backfills";
import type { ClaimedDueTask } from "@svc/db/standing/claim";
import { readStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import type { Occurrence } from "../decide/occurrence.ts";
import { bounds } from "../definition/forms.ts";
import type { StandingContext } from "../context.ts";
import type { ExaminedItem, Filtered, PreparedBackfill } from "../prepare/due.ts";
import type { LoadedVersion } from "../versions.ts";
import { type Looked, lookThrough } from "../backfill/range.ts";

/** Things that one step comes to, and bytes of their events. */
const looksMax = 500;
const bytesMax = 8_388_608;

/** States of runs that were started, or will be: an occurrence has its run by them. */
const runningStates: ReadonlySet<StandingRunState> = new Set(["collecting", "closing", "queued", "started", "ended"]);

/** Whether an occurrence has a run that was started or will be. */
export function hasItsRun(run: { readonly state: StandingRunState } | undefined): boolean {
  return run !== undefined && runningStates.has(run.state);
}

/** How many runs a backfill may start now. */
export function allowanceOfBackfill(
  { pacedAt, perMinute }: Pick<BackfillRecord, "pacedAt" | "perMinute">,
  nowMs: number,
): Allowance {
  return allowanceOf({ pacedAt, perSecond: perMinute / 60 }, nowMs);
}

/** Asks `when` of a version about an occurrence. */
type AskWhen = (version: LoadedVersion, occurrence: Occurrence, work: Work) => Promise<Filtered>;

/** Finds out what backfills come to next whose tasks are in a batch. */
export async function prepareBackfills(
  context: StandingContext,
  tasks: readonly ClaimedDueTask[],
  { ask, workOf }: { readonly ask: AskWhen; readonly workOf: (projectId: ClaimedDueTask["projectId"]) => Work },
): Promise<Map<StandingProgramId, PreparedBackfill>> {
  const prepared = new Map<StandingProgramId, PreparedBackfill>();
  const ids = tasks.filter(({ kind }) => kind === "backfill").map(({ ownerId }) => ownerId);
  for (const program of await readStandingPrograms(context.db, ids)) {
    const record = await findRunningBackfill(context.db, program.id);
    if (record === undefined) continue;
    const work = workOf(program.projectId);
    prepared.set(
      program.id,
      await prepareOne(context, { program, record, work }, async (version, occurrence) => {
        const filtered = await ask(version, occurrence, work);
        if (work.isSliceOver()) await work.turn();
        return filtered;
      }),
    );
  }
  return prepared;
}

async function prepareOne(
  context: StandingContext,
  {
    program,
    record,
    work,
  }: { readonly program: StandingProgramRecord; readonly record: BackfillRecord; readonly work: Work },
  ask: (version: LoadedVersion, occurrence: Occurrence) => Promise<Filtered>,
): Promise<PreparedBackfill> {
  const { version: versionNumber } = program;
  const today = await versionFor(context, program, record);
  const allowance = allowanceOfBackfill(record, context.clock.now());
  const keptFrom = context.clock.now() - context.limits.runRetentionMs;
  const of = { record, versionNumber, allowance, version: today, keptFrom };
  if (today === undefined || allowance.count === 0) return { ...of, looks: [], isWhole: false };
  const version = byPolicyOf(record, today);
  const looks: ExaminedItem[] = [];
  let [wanted, bytes] = [0, 0];
  for await (const { looked, isPassed } of withRuns(context, record, lookThrough(context, record, version, work))) {
    const isFull = looks.length === looksMax || bytes >= bytesMax;
    if (isFull || wanted === allowance.count) return { ...of, looks, isWhole: false };
    const occurrence = looked.occurrence && ofBackfill(looked.occurrence, record);
    // What has a run was let pass by its condition.
    const filtered = occurrence === undefined || isPassed ? { isDue: true } : await ask(version, occurrence);
    if (occurrence !== undefined && !isPassed && ("error" in filtered || filtered.isDue)) wanted++;
    bytes += occurrence?.event?.bytes ?? 0;
    looks.push({ ...looked, candidate: occurrence && { occurrence, version, filtered } });
  }
  return { ...of, looks, isWhole: true };
}

/** The version that a backfill goes on by, with the policies of the backfill; undefined where the program has another definition by now. */
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
  // Whoever began it was no approver, unless its plan needed one then.
  if (!isSame || (today.record.needsApproval && !asked.record.needsApproval)) return undefined;
  return today;
}

/** A version as its backfill runs it: by the overlap policy of that, which looks after keys of `dedupe` itself. */
export function byPolicyOf({ policy }: Pick<BackfillRecord, "policy">, version: LoadedVersion): LoadedVersion {
  const { overlap } = version.definition;
  const isWidened = policy === "allow" && overlap.policy !== "allow";
  const max = isWidened ? bounds.overlapMax.max : overlap.max;
  return { ...version, definition: { ...version.definition, overlap: { ...overlap, policy, max }, dedupe: undefined } };
}

/** An occurrence as a backfill makes it due. */
function ofBackfill(occurrence: Occurrence, { id, again, callerKeyId }: BackfillRecord): Occurrence {
  const sourceKey = again ? againKey(id, occurrence.sourceKey) : occurrence.sourceKey;
  return { ...occurrence, sourceKey, callerKeyId, backfillId: id };
}

/** The name of an occurrence that a backfill makes due again, or of the run that it takes the place of. */
export function againKey(id: BackfillRecord["id"], sourceKey: string): string {
  return `b:${id}/${sourceKey}`;
}

const chunk = 100;

/** What is come to, with whether it has a run already: read for many at once. */
export async function* withRuns(
  { db }: Pick<StandingContext, "db">,
  { programId, again }: Pick<BackfillRecord, "programId" | "again">,
  looks: AsyncGenerator<Looked>,
): AsyncGenerator<{ readonly looked: Looked; readonly isPassed: boolean }> {
  let held: Looked[] = [];
  const told = async () => {
    const keys = again ? [] : held.flatMap(({ occurrence }) => occurrence?.sourceKey ?? []);
    const runs = await findSourceRuns(db, programId, keys);
    const all = held.map((looked) => ({ looked, isPassed: hasItsRun(runs.get(looked.occurrence?.sourceKey ?? "")) }));
    held = [];
    return all;
  };
  for await (const looked of looks) {
    held.push(looked);
    if (held.length === chunk) yield* await told();
  }
  yield* await told();
}
