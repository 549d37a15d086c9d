import type { ProjectId, StandingProgramId, Work } from "@svc/core";
import { readInboxEvents } from "@svc/db/standing/inbox";
import { readStandingPrograms } from "@svc/db/standing/programs";
import type { StandingRunRecord } from "@svc/db/standing/runs";
import { readClosingStandingWindows, readLastStandingRunEvents, readStandingRunEvents } from "@svc/db/standing/windows";
import type { StandingContext } from "../context.ts";
import { eventOf, givenOfEvents } from "../decide/event.ts";
import type { ClosingWindow } from "../decide/occurrence.ts";
import { bounds } from "../definition/forms.ts";
import { backfills } from "../sources/backfill.ts";
import { polls } from "../sources/poll.ts";
import { schedules } from "../sources/schedule.ts";
import type { DecisionBatch, PreparedDecision, Source } from "../sources/source.ts";
import { triggers } from "../sources/trigger.ts";
import { type DriftHold, findDrifts } from "./drift.ts";

/**
 * The kinds of sources that start runs of standing programs (which start jobs on a schedule or event). svc decides about new runs in the
 * order of this list.
 */
const sources: readonly Source[] = [schedules, triggers, polls, backfills];

/**
 * Finds the occurrences (times, events or found rows) that are due for the programs of a batch. It locks no program. It does not decide
 * which runs start.
 */
export async function prepare(context: StandingContext, batch: DecisionBatch): Promise<PreparedDecision> {
  const { db, meter } = context;
  const works = new Map<ProjectId, Work>();
  const workOf = (projectId: ProjectId) => {
    const work = works.get(projectId) ?? meter.begin({ projectId });
    works.set(projectId, work);
    return work;
  };
  const drifts = new Map<StandingProgramId, DriftHold>();
  const prepared: PreparedDecision["sources"][number][] = [];
  for (const source of sources) prepared.push(await source(context, batch, { workOf, drifts }));
  const called = [...new Set(batch.calls.map(({ programId }) => programId))];
  await findDrifts(context, await readStandingPrograms(db, called), drifts);
  return { sources: prepared, drifts, windows: await prepareWindows(context, batch) };
}

/**
 * Maximum number of windows (times in which events are collected for one run) that one transaction closes. `windowBytesMax`: maximum bytes
 * of their events.
 */
const windowsMax = 100;
const windowBytesMax = 8_388_608;

/** Reads the events of collect windows (times in which events are gathered into one run) that have ended. */
async function prepareWindows(
  { db, clock, versions }: StandingContext,
  { tasks }: DecisionBatch,
): Promise<ClosingWindow[]> {
  const ids = tasks.filter(({ kind }) => kind === "close").map(({ ownerId }) => ownerId);
  const all = await readClosingStandingWindows(db, ids, { nowMs: clock.now(), most: windowsMax });
  const runs = withinBytes(all);
  const versionOf = await versions.get(db, runs);
  const lasts = runs.filter((run) => versionOf(run).definition.collect?.take === "last").map(({ id }) => id);
  const others = runs.map(({ id }) => id).filter((id) => !lasts.includes(id));
  const eventIds = new Map([
    ...(await readLastStandingRunEvents(db, lasts)),
    ...(await readStandingRunEvents(db, others, bounds.collectMax.max)),
  ]);
  const wanted = runs.flatMap(({ id, projectId }) =>
    (eventIds.get(id) ?? []).map((eventId) => ({ projectId, eventId })),
  );
  const events = new Map((await readInboxEvents(db, wanted, Number.MAX_SAFE_INTEGER)).map((one) => [one.id, one]));
  return runs.map((run) => {
    const own = (eventIds.get(run.id) ?? []).flatMap((id) => events.get(id) ?? []);
    return { run, version: versionOf(run), given: givenOfEvents(own.map(eventOf)) };
  });
}

/**
 * Returns the first windows (times in which events are collected for one run) whose events fit together into `windowBytesMax`, at least one
 * window. The other windows stay due.
 */
function withinBytes(runs: readonly StandingRunRecord[]): StandingRunRecord[] {
  let bytes = 0;
  return runs.filter((run, index) => {
    bytes += run.bytes;
    return index === 0 || bytes <= windowBytesMax;
  });
}
