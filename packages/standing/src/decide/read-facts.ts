import type { JsonObject, KeyId, ProjectId, StandingProgramId, StandingRunId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import {
  findUsableKeys,
  readStandingRates,
  readStandingUsage,
  type StandingRate,
  type StandingUsage,
} from "@svc/db/standing/bounds";
import { countStartedStandingRuns, countUnendedStandingRuns, lockStandingStarts } from "@svc/db/standing/end";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import { readKnownKeys, readStandingWindows, type WindowKey } from "@svc/db/standing/windows";
import type { StandingContext } from "../context.ts";
import type { TemplateValues } from "../definition/definition.ts";
import { dayOf } from "../schedule/catch-up.ts";
import { nextDayOf } from "../schedule/schedule.ts";
import type { DecisionBatch } from "../sources/source.ts";
import type { LoadedVersion } from "../versions.ts";
import { DecisionContext } from "./decision-context.ts";
import type { DecisionFacts } from "./decision-facts.ts";
import { NearBoundError } from "./errors.ts";
import { keyOf } from "./given.ts";
import { type DueCandidate, givenOfOccurrence, givenOfWindow } from "./occurrence.ts";
import { candidatesOf, isAnythingDue, type ProgramDue } from "./waiting.ts";

/** Maximum number of runs that one batch starts in a project while other nodes may also start runs of that project. */
const startsBesideMax = 200;

/**
 * Permissions for one batch of due schedules: the keys that may still be used, and the schedules that need approval by the project's
 * policy.
 */
export type Permits = {
  readonly isKeyUsable: (keyId: KeyId) => boolean;
  readonly isHeldByPolicy: (program: StandingProgramRecord, version: LoadedVersion) => boolean;
};

const nothingUsed = { runs: 0, toolCalls: 0, writes: 0 };

/**
 * Reads from the database what is needed to decide about the runs of several programs: usable keys, rates and open runs. One read serves
 * all programs. Returns the keys and entities (customers or users) that may be used, and the function `open`. `open` creates the object
 * that makes the decisions for one program.
 */
export async function readFacts(
  context: StandingContext,
  tx: Executor,
  dues: readonly ProgramDue[],
  {
    nowMs,
    unstarted = new Map(),
    isAlone = false,
  }: { readonly nowMs: number } & Pick<DecisionBatch, "unstarted" | "isAlone">,
): Promise<Permits & { open(due: ProgramDue): DecisionContext }> {
  const moving = dues.filter(isAnythingDue);
  const permits = await readPermits(context, tx, moving, nowMs);
  const rates = await readRates(tx, moving);
  const keys = await readKeys(tx, moving);
  const usage = await readUsage(tx, moving, nowMs);
  const rooms = await roomsOf(context, tx, moving, { isAlone });
  return {
    ...permits,
    open: ({ program, version, lanes }) =>
      new DecisionContext({
        ...{ program, version, lanes, nowMs, unstarted },
        rates: new Map((rates.get(program.id) ?? []).map(({ key, at }) => [key, at])),
        ...keys(program.id),
        used: usage.get(program.id) ?? nothingUsed,
        room: rooms.get(program.projectId) ?? { left: 0 },
        seal: (runId, input: JsonObject) =>
          context.sealer.seal(Buffer.from(JSON.stringify(input), "utf8"), inputContext(program.projectId, runId)),
        nextDayMs: (timeZone) => nextDayOf(timeZone, nowMs),
      }),
  };
}

/**
 * Returns the encryption context of the input that a caller gave for a run. The input can be decrypted only with the same project and run.
 */
export function inputContext(projectId: ProjectId, runId: StandingRunId): string {
  return `${projectId}/standing_runs/${runId}/input`;
}

async function readPermits(
  { starter }: StandingContext,
  tx: Executor,
  moving: readonly ProgramDue[],
  nowMs: number,
): Promise<Permits> {
  const keyIds = moving.flatMap(({ version, waiting }) => [version, ...waiting.map((one) => one.version)]);
  const ids = new Set(keyIds.map(({ record }) => record.keyId));
  const keys = ids.size === 0 ? new Set<KeyId>() : await findUsableKeys(tx, [...ids], nowMs);
  const policies = new Map<ProjectId, Awaited<ReturnType<typeof starter.isHeldByPolicy>>>();
  for (const projectId of new Set(moving.map(({ program }) => program.projectId))) {
    policies.set(projectId, await starter.isHeldByPolicy(tx, projectId));
  }
  return {
    isKeyUsable: (keyId) => keys.has(keyId),
    isHeldByPolicy: ({ projectId }, { program, record: { estimate } }) =>
      policies.get(projectId)?.({ program, estimate }) === true,
  };
}

/** Reads the states of the rate limits for the programs that are due. Returns these states by program. */
async function readRates(
  tx: Executor,
  moving: readonly ProgramDue[],
): Promise<ReadonlyMap<StandingProgramId, StandingRate[]>> {
  const keys = moving.flatMap((due) => {
    const { id: programId } = due.program;
    const texts = [
      ...candidatesOf(due).map(({ occurrence: of, version }) => rateKey(version, () => givenOfOccurrence(of, version))),
      ...due.closing.map((window) => rateKey(window.version, () => givenOfWindow(window))),
      ...due.waiting.map(({ run, version }) => (version.definition.rate === undefined ? undefined : run.rateKey)),
    ];
    return [...new Set(texts)].flatMap((key) => (key === undefined ? [] : [{ programId, key }]));
  });
  return Map.groupBy(await readStandingRates(tx, keys), ({ programId }) => programId);
}

function rateKey({ definition: { rate } }: LoadedVersion, given: () => TemplateValues): string | undefined {
  const key = rate && keyOf(rate.key, given());
  return key === undefined || "fault" in key ? undefined : key.text;
}

/** Reads the runs, tool calls and writes of the current day for programs that have a budget. */
async function readUsage(
  tx: Executor,
  moving: readonly ProgramDue[],
  nowMs: number,
): Promise<ReadonlyMap<StandingProgramId, StandingUsage>> {
  const days = moving.flatMap(({ program: { id: programId }, version: { definition } }) => {
    return definition.budget === undefined ? [] : [{ programId, day: dayOf(nowMs, definition.timeZone) }];
  });
  return new Map((await readStandingUsage(tx, days)).map((one) => [one.programId, one]));
}

/**
 * Stored facts for two rules of schedules. For `dedupe`, which ignores repeated events: the keys of events that were already handled. For
 * `collect`, which gathers events for one run: the runs that still gather.
 */
type KeyFacts = Pick<DecisionFacts, "knownKeys" | "windows">;

/**
 * For the due times and events, reads two kinds of stored keys: the known keys of the rule `dedupe`, and the keys of the rule `collect`
 * under which events are being gathered. Returns a function that gives these keys for one program.
 */
async function readKeys(tx: Executor, dues: readonly ProgramDue[]): Promise<(id: StandingProgramId) => KeyFacts> {
  const keys = dues.flatMap((due) =>
    candidatesOf(due).map((candidate) => ({ programId: due.program.id, ...keysOf(candidate) })),
  );
  const deduped = distinct(
    keys.flatMap(({ programId, dedupe }) => (dedupe === undefined ? [] : [{ programId, lane: dedupe }])),
  );
  const collecting = distinct(
    keys.flatMap(({ programId, collect }) => (collect === undefined ? [] : [{ programId, lane: collect }])),
  );
  const knownKeys = await readKnownKeys(
    tx,
    deduped.map(({ programId, lane: key }) => ({ programId, key })),
  );
  const windows = Map.groupBy(await readStandingWindows(tx, collecting), ({ programId }) => programId);
  const knownOf = Map.groupBy(knownKeys, ({ programId }) => programId);
  return (id) => ({
    knownKeys: new Map((knownOf.get(id) ?? []).map(({ key, until }) => [key, until])),
    windows: windows.get(id) ?? [],
  });
}

function keysOf({ occurrence, version }: DueCandidate): { dedupe?: string; collect?: string } {
  const { dedupe, collect } = version.definition;
  if (occurrence.kind === "hand" || (dedupe === undefined && collect === undefined)) return {};
  const given = givenOfOccurrence(occurrence, version);
  const known = dedupe && keyOf(dedupe.key, given);
  const window = collect && occurrence.event && keyOf(collect.key, given);
  return {
    ...(known !== undefined && "text" in known && { dedupe: known.text }),
    ...(window !== undefined && "text" in window && { collect: window.text }),
  };
}

function distinct(keys: readonly WindowKey[]): WindowKey[] {
  return [...new Map(keys.map((key) => [`${key.programId} ${key.lane}`, key])).values()];
}

/**
 * Returns how many more runs each project may start now. Throws NearBoundError if a project is near its maximum while other transactions
 * may also start runs of it.
 */
async function roomsOf(
  { limits: { projectRunsMax, projectRunsMargin } }: Pick<StandingContext, "limits">,
  tx: Executor,
  dues: readonly ProgramDue[],
  { isAlone }: { readonly isAlone: boolean },
): Promise<Map<ProjectId, { left: number }>> {
  const rooms = new Map<ProjectId, { left: number }>();
  const byProject = Map.groupBy(dues, ({ program }) => program.projectId);
  for (const projectId of [...byProject.keys()].sort()) {
    const wanted = (byProject.get(projectId) ?? []).reduce((sum, due) => sum + startsMaxOf(due), 0);
    const isShared = !isAlone && wanted <= startsBesideMax && projectRunsMax >= 2 * projectRunsMargin;
    await lockStandingStarts(tx, projectId, { isShared });
    const unended = await countUnendedStandingRuns(tx, projectId, projectRunsMax);
    if (isShared && unended + wanted + projectRunsMargin > projectRunsMax)
      throw new NearBoundError(`${projectId} has ${unended} unfinished runs, of at most ${projectRunsMax}`);
    // Suspended runs do not count. To leave them out, all job rows must be read, so this is done only if the result depends on it.
    const used =
      unended + wanted <= projectRunsMax ? unended : await countStartedStandingRuns(tx, projectId, projectRunsMax);
    rooms.set(projectId, { left: projectRunsMax - used });
  }
  return rooms;
}

/**
 * Returns the maximum number of runs that this transaction can start for a program: one for each due occurrence, each collect window that
 * ends, and each waiting run.
 */
function startsMaxOf(due: ProgramDue): number {
  return candidatesOf(due).length + due.closing.length + due.waiting.length;
}
