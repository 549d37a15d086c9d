import {
  type EventId,
  type Id,
  idOfUuid,
  parseId,
  type StandingProgramId,
  type StandingRunId,
  uuidOfId,
} from "@svc/core";
import { and, eq, inArray, isNotNull, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { isEventOf, type NamedEntity } from "../schema/erased-tables.ts";
import { jobAsks, jobs } from "../schema/jobs.ts";
import { standingPrograms, standingRunEvents, standingRuns, standingVersions } from "../schema/standing.ts";
import { events } from "../schema/triggers.ts";
import { arrayLiteral } from "../sql/statement.ts";

/**
 * Returns those of the given jobs that belong to an entity (customer or user), with all their child jobs and simulation runs. These belong
 * to the entity too, because they process the same rows.
 */
export async function jobsOfEntity(tx: Executor, named: NamedEntity, ids: readonly Id<"job">[]): Promise<Id<"job">[]> {
  return withDescendants(tx, await ownJobs(tx, named, ids));
}

/**
 * Returns those of the given jobs that belong to an entity (customer or user), directly or because a parent job belongs to it. Unlike
 * `jobsOfEntity`, it returns only given jobs.
 */
export async function jobsUnderEntity(
  tx: Executor,
  named: NamedEntity,
  ids: readonly Id<"job">[],
): Promise<Id<"job">[]> {
  if (ids.length === 0) return [];
  const rows = await tx.orm.execute<{ id: string; of: string }>(sql`with recursive family as (
      select id, id as of from unnest(${arrayLiteral(ids.map(uuidOfId))}::uuid[]) as id
      union select f.id, a.of from family f cross join lateral (
        select unnest(array[j.parent_job_id, j.simulated_from]) as of from jobs j where j.id = f.of offset 0) a where a.of is not null)
    select id, of from family`);
  const own = new Set(await ownJobs(tx, named, [...new Set(rows.map(({ of }) => idOfUuid("job", of)))]));
  return [...new Set(rows.filter(({ of }) => own.has(idOfUuid("job", of))).map(({ id }) => idOfUuid("job", id)))];
}

/**
 * Returns those of the given jobs that belong to the entity (a customer or user of the project) directly. A job belongs to the entity if
 * its scope has the entity, if its program names the entity, or if an event of the entity started the job.
 */
async function ownJobs(tx: Executor, named: NamedEntity, ids: readonly Id<"job">[]): Promise<Id<"job">[]> {
  if (ids.length === 0) return [];
  const { entityId } = named;
  const found = await tx.orm
    .select({ id: jobs.id, binding: jobs.binding, estimate: jobs.estimate, runId: jobs.standingRunId })
    .from(jobs)
    .where(inArray(jobs.id, [...ids]));
  const runs = new Set(
    await runsOfEntity(
      tx,
      named,
      found.flatMap(({ runId }) => runId ?? []),
    ),
  );
  const own = found.filter(
    ({ binding, estimate, runId }) =>
      binding?.entityId === entityId || estimate.entities.includes(entityId) || (runId !== null && runs.has(runId)),
  );
  return own.map(({ id }) => id);
}

async function withDescendants(tx: Executor, ids: readonly Id<"job">[]): Promise<Id<"job">[]> {
  if (ids.length === 0) return [];
  const rows = await tx.orm.execute<{ id: string }>(sql`with recursive family as (
      select unnest(${arrayLiteral(ids.map(uuidOfId))}::uuid[]) as id
      union select j.id from family f cross join lateral (
        select id from jobs where parent_job_id = f.id union all select id from jobs where simulated_from = f.id) j)
    select id from family`);
  return rows.map(({ id }) => idOfUuid("job", id));
}

/** Returns the ids of the events by which svc sent the asks (questions to people) of these jobs to endpoints of the project. */
export async function eventsOfAsks(tx: Executor, ids: readonly Id<"job">[]): Promise<EventId[]> {
  if (ids.length === 0) return [];
  const asks = await tx.orm
    .select({ eventIds: jobAsks.eventIds })
    .from(jobAsks)
    .where(inArray(jobAsks.jobId, [...ids]));
  return asks.flatMap(({ eventIds }) => eventIds.flatMap((text) => parseId("evt", text) ?? []));
}

/** Returns those of the given runs of standing programs (schedules) that contain an event of the entity (customer or user). */
export async function runsOfEntity(
  tx: Executor,
  named: NamedEntity,
  ids: readonly StandingRunId[],
): Promise<StandingRunId[]> {
  if (ids.length === 0) return [];
  const runs = await tx.orm
    .select({ id: standingRuns.id, sourceKey: standingRuns.sourceKey })
    .from(standingRuns)
    .where(inArray(standingRuns.id, [...ids]));
  const collected = await tx.orm
    .select({ id: standingRunEvents.runId, eventId: standingRunEvents.eventId })
    .from(standingRunEvents)
    .where(inArray(standingRunEvents.runId, [...ids]));
  const pairs = [
    ...collected,
    ...runs.flatMap(({ id, sourceKey }) => eventOf(sourceKey).map((eventId) => ({ id, eventId }))),
  ];
  if (pairs.length === 0) return [];
  const own = await tx.orm
    .select({ id: events.id })
    .from(events)
    .where(
      and(
        eq(events.projectId, named.projectId),
        inArray(
          events.id,
          pairs.map(({ eventId }) => eventId),
        ),
        isEventOf(named),
      ),
    );
  const ofEntity = new Set(own.map(({ id }) => id));
  return [...new Set(pairs.filter(({ eventId }) => ofEntity.has(eventId)).map(({ id }) => id))];
}

/**
 * Returns a list with the event that started a run of a schedule, or an empty list if no event started it. The key of the run's source
 * contains the event's id as `e:evt_…`. For a run of a backfill, a prefix precedes this text.
 */
function eventOf(sourceKey: string): EventId[] {
  const [, text = ""] = /(?:^|\/)e:(evt_\w+)/.exec(sourceKey) ?? [];
  return [parseId("evt", text)].filter((id) => id !== undefined);
}

/**
 * Returns those of the given standing programs (schedules) that are scoped to the entity (customer or user), or that name the entity in any
 * version.
 */
export async function programsOfEntity(
  tx: Executor,
  { entityId }: NamedEntity,
  ids: readonly StandingProgramId[],
): Promise<StandingProgramId[]> {
  if (ids.length === 0) return [];
  const bound = await tx.orm
    .select({ id: standingPrograms.id, binding: standingPrograms.binding })
    .from(standingPrograms)
    .where(and(inArray(standingPrograms.id, [...ids]), isNotNull(standingPrograms.binding)));
  const versions = await tx.orm
    .select({ id: standingVersions.programId, estimate: standingVersions.estimate })
    .from(standingVersions)
    .where(inArray(standingVersions.programId, [...ids]));
  return [
    ...new Set([
      ...bound.flatMap(({ id, binding }) => (binding?.entityId === entityId ? [id] : [])),
      ...versions.flatMap(({ id, estimate }) => (estimate.entities.includes(entityId) ? [id] : [])),
    ]),
  ];
}
