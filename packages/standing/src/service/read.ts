import {
  type Fault,
  isWithin,
  type JsonObject,
  type ProjectPrincipal,
  parseExactJson,
  parseId,
  type Sealer,
  type StandingProgramId,
  type Work,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { readStandingUsage } from "@svc/db/standing/bounds";
import { countOpenStandingRuns } from "@svc/db/standing/concurrency-keys";
import { readStandingPolls } from "@svc/db/standing/polls";
import {
  loadStandingVersions,
  readStandingPrograms,
  type StandingProgramRecord,
  standingProgramsForProject,
} from "@svc/db/standing/programs";
import { readLastStandingRuns } from "@svc/db/standing/runs";
import type { StandingProgram } from "@svc/gen/standing";
import { shownProgram } from "@svc/jobs";
import type { StandingEngine } from "../claim/engine.ts";
import type { StandingContext } from "../context.ts";
import { standingFaults } from "../errors.ts";
import { dayOf } from "../schedule/catch-up.ts";
import { fireTimeOf } from "../schedule/due.ts";
import { type LoadedVersion, openDefinition } from "../versions.ts";
import { toProgram } from "./convert.ts";

/** Dependencies of all methods of StandingService. */
export type StandingServiceContext = StandingContext & {
  /** The engine of this node. The API methods ask it to start runs that a caller requested, and wake it when a task becomes due. */
  readonly engine: Pick<StandingEngine, "wake" | "call">;
};

/** Maximum next start times in the API message of a program. */
const nextTimesMax = 5;

/** The caller of a request: its project, and the access scope of its key. */
type Caller = Pick<ProjectPrincipal, "projectId" | "binding">;

/**
 * Returns the standing program (schedule) with this id or slug. Throws STANDING_PROGRAM_NOT_FOUND if it does not exist, or if it may access
 * more than the caller may.
 */
export async function findProgram(
  db: Executor,
  { projectId, binding }: Caller,
  name: string,
  field: "id" | "standingProgramId" = "id",
): Promise<StandingProgramRecord> {
  const id = parseId("stp", name);
  const programs = standingProgramsForProject(db, projectId);
  const found = name.includes("\0")
    ? undefined
    : await (id === undefined ? programs.findBySlug(name) : programs.find(id));
  if (found === undefined || !isWithin(found, binding)) throw standingFaults.STANDING_PROGRAM_NOT_FOUND(field, name);
  return found;
}

/** Throws the error that `missing` returns if the caller's key is scoped and may not see the program. */
export async function assertReached(
  db: Executor,
  { binding }: Caller,
  programId: StandingProgramId,
  missing: () => Fault,
): Promise<void> {
  if (binding === undefined) return;
  const [program] = await readStandingPrograms(db, [programId]);
  if (program === undefined || !isWithin(program, binding)) throw missing();
}

/**
 * Returns the API messages of standing programs (schedules), in the order of the given ones. Messages contain the schedule's definition
 * only if `isWhole` is true.
 */
export async function readPrograms(
  { versions, clock, sealer, db, meter }: Pick<StandingContext, "versions" | "clock" | "sealer" | "db" | "meter">,
  programs: readonly StandingProgramRecord[],
  { isWhole }: { readonly isWhole: boolean },
): Promise<StandingProgram[]> {
  if (programs.length === 0) return [];
  const ids = programs.map(({ id }) => id);
  const nowMs = clock.now();
  const names = programs.map(({ id: programId, projectId, version }) => ({ programId, projectId, version }));
  const versionOf = await versions.get(db, names);
  const days = names.map((name) => {
    return { programId: name.programId, day: dayOf(nowMs, versionOf(name).definition.timeZone) };
  });
  const polled = programs.filter(({ sourceKind }) => sourceKind === "poll").map(({ id }) => id);
  const [open, lastRuns, used, polls] = await Promise.all([
    countOpenStandingRuns(db, ids),
    readLastStandingRuns(db, ids),
    readStandingUsage(db, days),
    readStandingPolls(db, polled),
  ]);
  const usage = new Map(used.map((one) => [one.programId, one]));
  const shown: StandingProgram[] = [];
  const work = meter.begin({ projectId: programs[0]?.projectId ?? "" });
  for (const [index, program] of programs.entries()) {
    const version = versionOf({ programId: program.id, projectId: program.projectId, version: program.version });
    const day = days[index]?.day ?? "";
    shown.push(
      toProgram({
        program,
        version: version.record,
        definitionJson: isWhole ? await shownDefinition(db, sealer, program) : "",
        nextTimes: await nextTimesOf(program, version, work),
        lastRun: lastRuns.get(program.id),
        poll: polls.get(program.id),
        open: open.get(program.id) ?? { queued: 0, started: 0 },
        usedToday: usage.get(program.id) ?? { day, runs: 0, toolCalls: 0, writes: 0 },
      }),
    );
  }
  return shown;
}

/**
 * Returns the next start times of a program in epoch milliseconds. Each includes the program's jitter, a small delay that spreads programs
 * that are due at the same time.
 */
async function nextTimesOf(
  { id, state, nextAt }: StandingProgramRecord,
  { definition, next }: LoadedVersion,
  work: Work,
): Promise<number[]> {
  const times: number[] = [];
  let at = state === "active" ? nextAt : null;
  while (at !== null && times.length < nextTimesMax) {
    times.push(fireTimeOf(id, at, definition.source) ?? at);
    at = (await next(at, work)) ?? null;
  }
  return times;
}

/** Returns the schedule's definition as the caller wrote it. `***` replaces the inputs that the program marks as sensitive. */
async function shownDefinition(
  db: Executor,
  sealer: Sealer,
  { id: programId, projectId, version }: StandingProgramRecord,
): Promise<string> {
  const [found] = await loadStandingVersions(db, [{ programId, version }]);
  if (found === undefined) throw new Error(`version ${version} of ${programId} is missing in the database`);
  const text = openDefinition(sealer, { programId, projectId, version }, found.definition);
  const document = parseExactJson(text) as JsonObject & { readonly program: JsonObject };
  const programText = JSON.stringify(document.program);
  const shown = shownProgram(programText);
  // The definition of a standing program can have an `input` next to its program. Sensitive values in this input must not be shown, so it
  // is masked like an input of the program itself.
  const made = JSON.stringify({ ...document.program, input: document.input ?? {} });
  const shownMade = shownProgram(made);
  if (shown === programText && shownMade === made) return text;
  const { input } = parseExactJson(shownMade) as { readonly input: JsonObject };
  return JSON.stringify({
    ...document,
    ...(document.input !== undefined && { input }),
    program: parseExactJson(shown) as JsonObject,
  });
}
