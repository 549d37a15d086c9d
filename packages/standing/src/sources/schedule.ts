import type { StandingProgramId, Work } from "@svc/core";
import { readStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import type { DecisionContext, ProgramHold } from "../decide/decision-context.ts";
import { StaleBatchError } from "../decide/errors.ts";
import type { DueCandidate, Occurrence } from "../decide/occurrence.ts";
import { findDrifts } from "../prepare/drift.ts";
import { couldNotBeDecided, testWhen } from "../prepare/when.ts";
import { type CatchUpDecision, catchUp } from "../schedule/catch-up.ts";
import { fireTimeOf, jitterOf } from "../schedule/due.ts";
import type { LoadedVersion } from "../versions.ts";
import {
  dueCandidates,
  isRunnable,
  nothingPrepared,
  type Source,
  type SourceDue,
  type SourceOutcome,
} from "./source.ts";

/**
 * Maximum number of due times of one schedule that are computed at once. Computing so many takes some seconds, in which other work of the
 * node also runs.
 */
const searchedMax = 100_000;

/** Pause in milliseconds before svc starts runs for the next missed times of a schedule, after a downtime. */
const catchUpPauseMs = 1_000;

/** The decision about the due times of one schedule: `occurrences` start runs now, and `missed` are skipped. */
type DueTimes = {
  readonly occurrences: readonly Occurrence[];
  readonly missed: CatchUpDecision["missed"];
  /** The first occurrence that is not decided yet; null if the schedule has no further one. */
  readonly nextAt: number | null;
  /** Time in epoch milliseconds at which svc processes the schedule's due time `nextAt`. Null if the schedule has no further due time. */
  readonly dueAt: number | null;
};

/**
 * Due occurrences of a schedule, with the fields of the program from which they were computed. If these fields change, the occurrences are
 * not valid.
 */
type PreparedSchedule = {
  readonly basis: Pick<StandingProgramRecord, "version" | "nextAt" | "previousAt">;
  readonly times: DueTimes;
  readonly candidates: readonly DueCandidate[];
};

/** Finds the due times of programs that run at set times. Each due time can start a run. */
export const schedules: Source = async (context, { tasks, isRefused }, { workOf, drifts }) => {
  const { db, versions, clock, meter } = context;
  const ids = tasks.filter(({ kind }) => kind === "fire").map(({ ownerId }) => ownerId);
  if (ids.length === 0) return nothingPrepared;
  const unpaused = (await readStandingPrograms(db, ids)).filter(
    ({ state, deletedAt }) => state !== "paused" && deletedAt === null,
  );
  const moved = await findDrifts(context, unpaused, drifts);
  // These programs follow the changes of their tools and got a new version. Their due occurrences stay due, and the new version decides
  // about them.
  const again = moved.length === 0 ? [] : await readStandingPrograms(db, moved);
  const programs = [...unpaused.filter(({ id }) => !moved.includes(id)), ...again];
  const versionOf = await versions.get(
    db,
    programs.map(({ id: programId, projectId, version }) => ({ programId, projectId, version })),
  );
  const prepared = new Map<StandingProgramId, PreparedSchedule>();
  // Measures the work for all projects together. Each project needs little time, but all of them together could block the node.
  const all = meter.begin({ projectId: "" });
  for (const program of programs) {
    if (all.isSliceOver()) await all.turn();
    const { id: programId, projectId, version: number, nextAt, previousAt } = program;
    const version = versionOf({ programId, projectId, version: number });
    const work = workOf(projectId);
    const times = await dueTimesOf(program, version, { nowMs: clock.now(), work });
    const candidates: DueCandidate[] = [];
    for (const occurrence of times.occurrences) {
      const when = isRefused ? couldNotBeDecided : await testWhen(context, version, occurrence, work);
      candidates.push({ occurrence, version, when });
    }
    prepared.set(programId, { basis: { version: number, nextAt, previousAt }, times, candidates });
  }
  return {
    due: async (_tx, { programs, isHeld }) => {
      const held = programs.filter((program) => isHeld("fire", program.id) && isRunnable(program));
      return new Map(
        held.map((program) => {
          const own = currentOf(prepared, program);
          const decide: SourceDue["decide"] = (decisions, hold) => decideSchedule(decisions, own, hold);
          return [program.id, dueCandidates(own.candidates, decide)];
        }),
      );
    },
  };
};

/** Returns which occurrences of a schedule are due at a time, and when the schedule is due next. */
async function dueTimesOf(
  program: Pick<StandingProgramRecord, "id" | "nextAt" | "previousAt">,
  { definition: { source }, next }: Pick<LoadedVersion, "definition" | "next">,
  { nowMs, work }: { readonly nowMs: number; readonly work: Work },
): Promise<DueTimes> {
  if (source.kind !== "schedule") return { occurrences: [], missed: undefined, nextAt: null, dueAt: null };
  const { schedule } = source;
  const due: { atMs: number; effectiveMs: number }[] = [];
  let at: number | undefined = program.nextAt ?? undefined;
  while (at !== undefined && due.length < searchedMax) {
    const atMs = at;
    const effectiveMs = at + work.run(() => jitterOf(program.id, atMs, schedule.jitterMs));
    if (effectiveMs > nowMs) break;
    due.push({ atMs, effectiveMs });
    at = await next(at, work);
  }
  const { fire, missed, later } = catchUp(due, schedule.catchUp, nowMs);
  const nextAt = later[0] ?? at ?? null;
  let previousAt = program.previousAt;
  const occurrences = fire.map(({ atMs, missed }): Occurrence => {
    const occurrence = { kind: "schedule", sourceKey: `s:${atMs}`, fireAt: atMs, missed, previousAt } as const;
    previousAt = atMs;
    return { ...occurrence, callerKeyId: null, input: undefined };
  });
  const dueAt = later.length > 0 ? nowMs + catchUpPauseMs : fireTimeOf(program.id, nextAt, source);
  return { occurrences, missed, nextAt, dueAt };
}

/**
 * Returns the occurrences (due times) that were computed for a program before it was locked. Throws StaleBatchError if the program has
 * changed since then.
 */
function currentOf(
  prepared: ReadonlyMap<StandingProgramId, PreparedSchedule>,
  { id, version, nextAt, previousAt }: StandingProgramRecord,
): PreparedSchedule {
  const found = prepared.get(id);
  const { basis } = found ?? {};
  if (found === undefined || basis?.version !== version || basis.nextAt !== nextAt || basis.previousAt !== previousAt) {
    throw new StaleBatchError(`standing program ${id} has changed meanwhile`);
  }
  return found;
}

function decideSchedule(
  decisions: DecisionContext,
  { times: { missed, nextAt, dueAt }, candidates }: PreparedSchedule,
  hold: ProgramHold | undefined,
): SourceOutcome {
  decisions.nextAt = nextAt;
  if (missed !== undefined) decisions.miss(missed);
  for (const candidate of candidates) {
    decisions.missed += candidate.occurrence.missed;
    decisions.decide(candidate, hold);
    decisions.previousAt = candidate.occurrence.fireAt;
  }
  if (decisions.nextAt === null && decisions.state === "active") decisions.state = "ended";
  return { task: "fire", dueAt };
}
