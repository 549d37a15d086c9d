import { type DeliveryId, type EventId, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Number of characters at the start of an entry in which its first seven values are looked for. */
const startCharsMax = 4_096;
/** Regular expression of PostgreSQL for a number, a text or null in JSON. */
const scalar = String.raw`(?:[0-9.eE+-]+|null|"(?:[^"\\]|\\.)*")`;
/**
 * SQL for the first seven values of an entry as the start of a JSON list. Null if the entry does not begin with seven such values. The last
 * of them, the error, is a text. So a cut value never matches.
 */
const entryStart = String.raw`ltrim(substring(left(a.entry #>> '{}', ${startCharsMax}) from '^[0-9]*\[(?:${scalar},){6}"(?:[^"\\]|\\.)*"'), '0123456789')`;

/**
 * SQL that reads an entry of `deliveries.attempt_log` as a list `p`: number, start, duration, URL, address, status and error. The endpoint's
 * answer follows these values and can be large, so usually only the start of the text is parsed. `offset 0`: the entry is read only once.
 */
export const attemptParts = `cross join lateral (select case
    when jsonb_typeof(a.entry) = 'string' then coalesce(${entryStart} || ']', substr(a.entry #>> '{}', strpos(a.entry #>> '{}', '[')))::jsonb
    when a.entry ? 'p' then (a.entry ->> 'p')::jsonb
    else jsonb_build_array(a.entry -> 'number', a.entry -> 'startedAt', a.entry -> 'durationMs', null, null, a.entry -> 'statusCode', a.entry -> 'error')
  end as p offset 0) parts`;

/**
 * Short form of one attempt of a delivery, without request and response. `number`: number in the retry schedule, which does not count manual
 * attempts.
 */
export type AttemptMark = {
  readonly number: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly statusCode: number;
  /** Error code, such as `http_500`. Empty if the attempt succeeded. */
  readonly error: string;
};

/** Maximum number of attempts that are returned for one delivery. */
const marksMax = 50;

/** Reads the latest attempts of deliveries, found by the primary key of the table. */
const selectMarks = statement<{ id: string; marks: [number, number, number, number, string][] }>(
  "read_attempt_marks",
  `select w.id, m.marks from unnest($2::uuid[]) as w(id) cross join lateral (
     select attempt_log from deliveries where id = w.id and project_id = $1::uuid offset 0) d
   cross join lateral (
     select jsonb_agg(jsonb_build_array(p -> 0, p -> 1, p -> 2, p -> 5, substring(p ->> 6 from '^[^ :]*')) order by a.n) as marks
     from jsonb_array_elements(d.attempt_log) with ordinality a(entry, n) ${attemptParts}
     where a.n > jsonb_array_length(d.attempt_log) - ${marksMax}) m
   where m.marks is not null`,
);

/**
 * Returns the attempts of deliveries in a short form, earliest first, at most the latest 50 of each delivery. A delivery without an attempt
 * is absent.
 */
export async function readAttemptMarks(
  db: Executor,
  projectId: ProjectId,
  ids: readonly DeliveryId[],
): Promise<ReadonlyMap<DeliveryId, readonly AttemptMark[]>> {
  if (ids.length === 0) return new Map();
  const rows = await selectMarks(db, [uuidOfId(projectId), arrayLiteral(ids.map(uuidOfId))]);
  return new Map(
    rows.map(({ id, marks }) => [
      idOfUuid("dlv", id),
      marks.map(([number, startedAt, durationMs, statusCode, error]) => {
        return { number, startedAt, durationMs, statusCode, error };
      }),
    ]),
  );
}

/** The parts of an event with which a list of deliveries shows the event. `payload`: JSON text; empty if it has more than 4 KiB. */
export type ShortEvent = { readonly triggerSlug: string; readonly payload: string };

/** Maximum size of a payload that is read, in bytes. With it, a page of deliveries is parsed within a few milliseconds. */
const payloadBytesMax = 4_096;

/** Reads events by their primary key. The size of a payload is compared before PostgreSQL reads it from outside of the row. */
const selectShort = statement<{ id: string; trigger_slug: string; payload: string }>(
  "read_short_events",
  `select w.id, e.trigger_slug, e.payload from unnest($2::uuid[]) as w(id) cross join lateral (
     select trigger_slug, case when octet_length(payload) <= ${payloadBytesMax} then payload else '' end as payload
     from events where project_id = $1::uuid and id = w.id and kind in ('event', 'test') offset 0) e`,
);

/**
 * Returns the short form of events (trigger and small payload), by event id. Deleted events and questions that were sent as events are
 * absent.
 */
export async function readShortEvents(
  db: Executor,
  projectId: ProjectId,
  eventIds: readonly EventId[],
): Promise<ReadonlyMap<EventId, ShortEvent>> {
  if (eventIds.length === 0) return new Map();
  const rows = await selectShort(db, [uuidOfId(projectId), arrayLiteral([...new Set(eventIds.map(uuidOfId))])]);
  return new Map(
    rows.map(({ id, trigger_slug: triggerSlug, payload }) => [idOfUuid("evt", id), { triggerSlug, payload }]),
  );
}
