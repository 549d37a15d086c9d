import type { JsonObject, KeyId, ProjectId, Sealer, StandingProgramId } from "@svc/core";
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
import { Book } from "./decision-context.ts";
import type { BookFacts } from "./decision-facts.ts";
import { keyOf } from "./given.ts";
import { type ClosingWindow, givenOfOccurrence, givenOfWindow } from "./occurrence.ts";
import type { TemplateValues } from "../definition/definition.ts";
import { dayOf } from "../schedule/catch-up.ts";
import { nextDayOf } from "../schedule/schedule.ts";
import type { LoadedVersion } from "../versions.ts";
import type { StandingContext } from "../context.ts";
import { candidatesOf, type DecisionBatch, type DueCandidate, isWanted, type ProgramDue } from "../prepare/due.ts";
import { inputPlace, NearBoundError } from "./errors.ts";

/** Starts of a batch beside which others may start, too. */
const startsBesideMax = 200;

/** What may start at all, of all programs of a batch. */
export type Permits = {
  readonly isKeyUsable: (keyId: KeyId) => boolean;
  readonly isHeldByPolicy: (program: StandingProgramRecord, version: LoadedVersion) => boolean;
};

const nothingUsed = { runs: 0, toolCalls: 0, writes: 0 };

/** Reads what decisions rest on, for all programs of a batch at once. */
export async function openBooks(
  context: StandingContext,
  tx: Executor,
  dues: readonly ProgramDue[],
  {
    nowMs,
    unstarted = new Map(),
    isAlone = false,
  }: { readonly nowMs: number } & Pick<DecisionBatch, "unstarted" | "isAlone">,
): Promise<Permits & { open(due: ProgramDue): Book }> {
  const moving = dues.filter(mayMove);
  const permits = await readPermits(context, tx, moving, nowMs);
  const rates = await readRates(tx, moving);
  const gathered = await readGathered(tx, moving);
  const usage = await readUsage(tx, moving, nowMs);
  const rooms = await roomsOf(context, tx, moving, { isAlone });
  return {
    ...permits,
    open: ({ program, version, lanes }) =>
      new Book({
        ...{ program, version, lanes, nowMs, unstarted },
        rates: new Map((rates.get(program.id) ?? []).map(({ key, at }) => [key, at])),
        ...gathered(program.id),
        used: usage.get(program.id) ?? nothingUsed,
        room: rooms.get(program.projectId) ?? { left: 0 },
        seal: (runId, input: JsonObject) => sealInput(context.sealer, inputPlace(program.projectId, runId), input),
        nextDayMs: (timeZone) => nextDayOf(timeZone, nowMs),
      }),
  };
}

/** Whether a run of a program may come of a batch. */
function mayMove(due: ProgramDue): boolean {
  const { closing, waiting, backfill } = due;
  return closing.length > 0 || waiting.length > 0 || backfill !== undefined || candidatesOf(due).some(isWanted);
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

/** Where the rates stand that starts are decided by. */
async function readRates(
  tx: Executor,
  moving: readonly ProgramDue[],
): Promise<ReadonlyMap<StandingProgramId, StandingRate[]>> {
  const keys = moving.flatMap((due) => {
    const { id: programId } = due.program;
    const texts = [
      ...candidatesOf(due).map(rateKeyOf),
      ...due.closing.map(rateKeyOfWindow),
      ...due.waiting.map(({ run, version }) => (version.definition.rate === undefined ? undefined : run.rateKey)),
    ];
    return [...new Set(texts)].flatMap((key) => (key === undefined ? [] : [{ programId, key }]));
  });
  return Map.groupBy(await readStandingRates(tx, keys), ({ programId }) => programId);
}

function rateKeyOf({ occurrence, version }: DueCandidate): string | undefined {
  return rateKey(version, () => givenOfOccurrence(occurrence, version));
}

function rateKeyOfWindow(window: ClosingWindow): string | undefined {
  return rateKey(window.version, () => givenOfWindow(window));
}

function rateKey({ definition: { rate } }: LoadedVersion, given: () => TemplateValues): string | undefined {
  const key = rate && keyOf(rate.key, given());
  return key === undefined || "fault" in key ? undefined : key.text;
}

/** What programs with a budget used on their day. */
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

/** What a book is told of keys: those that were seen, and windows that are open. */
type Gathered = Pick<BookFacts, "seenKeys" | "windows">;

/** Reads, of the keys that what is due has, which were seen and which have a window. */
async function readGathered(tx: Executor, dues: readonly ProgramDue[]): Promise<(id: StandingProgramId) => Gathered> {
  const keys = dues.flatMap((due) =>
    candidatesOf(due).map((candidate) => ({ programId: due.program.id, ...keysOf(candidate) })),
  );
  const seen = distinct(
    keys.flatMap(({ programId, dedupe }) => (dedupe === undefined ? [] : [{ programId, lane: dedupe }])),
  );
  const collecting = distinct(
    keys.flatMap(({ programId, collect }) => (collect === undefined ? [] : [{ programId, lane: collect }])),
  );
  const seenKeys = await readKnownKeys(
    tx,
    seen.map(({ programId, lane: key }) => ({ programId, key })),
  );
  const windows = Map.groupBy(await readStandingWindows(tx, collecting), ({ programId }) => programId);
  const seenOf = Map.groupBy(seenKeys, ({ programId }) => programId);
  return (id) => ({
    seenKeys: new Map((seenOf.get(id) ?? []).map(({ key, until }) => [key, until])),
    windows: windows.get(id) ?? [],
  });
}

function keysOf({ occurrence, version }: DueCandidate): { dedupe?: string; collect?: string } {
  const { dedupe, collect } = version.definition;
  if (occurrence.kind === "hand" || (dedupe === undefined && collect === undefined)) return {};
  const given = givenOfOccurrence(occurrence, version);
  const seen = dedupe && keyOf(dedupe.key, given);
  const window = collect && occurrence.event && keyOf(collect.key, given);
  return {
    ...(seen !== undefined && "text" in seen && { dedupe: seen.text }),
    ...(window !== undefined && "text" in window && { collect: window.text }),
  };
}

function distinct(keys: readonly WindowKey[]): WindowKey[] {
  return [...new Map(keys.map((key) => [`${key.programId} ${key.lane}`, key])).values()];
}

/** Seals what a caller gave. */
function sealInput(sealer: Sealer, place: string, input: JsonObject): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(input), "utf8"), place);
}

/**
 * How many more runs each project may have under way. Who is near that bound starts runs alone until the transaction ends, so that no number
 * of nodes passes it; who is far from it does not wait for others, nor they for it. Throws NearBoundError where it turns out to be near.
 * Which runs are parked is looked up only where that decides: it reads a job for each.
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
      throw new NearBoundError(`${projectId} has ${unended} runs under way, of at most ${projectRunsMax}`);
    const used =
      unended + wanted <= projectRunsMax ? unended : await countStartedStandingRuns(tx, projectId, projectRunsMax);
    rooms.set(projectId, { left: projectRunsMax - used });
  }
  return rooms;
}

/** How many runs of a program may start in its batch at most. */
function startsMaxOf(due: ProgramDue): number {
  return candidatesOf(due).length + due.closing.length + due.waiting.length;
}
