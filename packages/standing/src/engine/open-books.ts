import type { JsonObject, KeyId, ProjectId, StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import {
  findUsableKeys,
  readStandingRates,
  readStandingUsage,
  type StandingRate,
  type StandingUsage,
} from "@svc/db/standing/bounds";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import { Book } from "../decide/book.ts";
import { keyOf } from "../decide/given.ts";
import { type ClosingWindow, givenOfOccurrence, givenOfWindow } from "../decide/occurrence.ts";
import type { Given } from "../definition/definition.ts";
import { nextDayOf } from "../schedule/schedule.ts";
import { dayOf } from "../schedule/zone.ts";
import type { LoadedVersion } from "../versions.ts";
import type { StandingContext } from "./context.ts";
import { type Batch, type Candidate, candidatesOf, isWanted, type ProgramDue } from "./due.ts";
import { readGathered } from "./gathered.ts";
import { roomsOf } from "./room.ts";
import { inputPlace, sealInput } from "./seals.ts";

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
  { nowMs, unstarted = new Map(), isAlone = false }: { readonly nowMs: number } & Pick<Batch, "unstarted" | "isAlone">,
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

function rateKeyOf({ occurrence, version }: Candidate): string | undefined {
  return rateKey(version, () => givenOfOccurrence(occurrence, version));
}

function rateKeyOfWindow(window: ClosingWindow): string | undefined {
  return rateKey(window.version, () => givenOfWindow(window));
}

function rateKey({ definition: { rate } }: LoadedVersion, given: () => Given): string | undefined {
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
