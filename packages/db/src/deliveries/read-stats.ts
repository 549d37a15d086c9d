import { firstUuidAt, idOfUuid, type ProjectId, type SubscriptionId, timeOfId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { filterBy, scanOf } from "../sql/filter.ts";
import { lastUuid } from "../sql/newest-in.ts";
import { statement } from "../sql/statement.ts";
import { attemptParts } from "./read-marks.ts";

/** Maximum number of deliveries from which statistics are computed. */
const countedMax = 5_000;
/**
 * Maximum size in the database of the attempts from which statistics are computed, in bytes. PostgreSQL loads the stored answers of the
 * endpoint with the attempts. Attempts of versions before 0.2 have up to 52 KB each. The newest delivery is always counted.
 */
const countedBytesMax = 16_777_216;
/** Number of parts into which the span of the attempts is divided. */
const barsCount = 48;
const answersMax = 12;

const scan = scanOf("deliveries", "project_id, subscription_id, id, event_id, state, attempts, attempt_log", {
  key: { project_id: "$1::uuid", subscription_id: "$2::uuid" },
  // Without this condition, PostgreSQL could use another index of deliveries that also begins with the project.
  condition: "subscription_id = $2::uuid",
  from: "$3::uuid",
  before: `'${lastUuid}'::uuid`,
  max: String(countedMax + 1),
});

type StatsRow = {
  is_cut: boolean;
  first_id: string | null;
  delivered: number;
  failed: number;
  waiting: number;
  retrying: number;
  resendable: number;
  p95_ms: number | null;
  answers: [number, string, number][] | null;
  bars: [number, number, number][] | null;
};

/** SQL for the counted deliveries. The size of the attempts is known without loading them. */
const countedDeliveries = `select * from (
     select s.*, row_number() over newest as rank, sum(pg_column_size(attempt_log)) over newest as bytes
     from scanned s window newest as (order by id desc rows unbounded preceding)) s
   where rank = 1 or (rank <= ${countedMax} and bytes <= ${countedBytesMax})`;
/** SQL that is true if the span has more deliveries than are counted. */
const hasMore = "(select count(*) from scanned) > (select count(*) from counted)";
/** SQL for the first id of the time of the oldest counted delivery. Null if the span has no more deliveries than are counted. */
const firstOfCut = `select (left(min(id::text), 13) || '-0000-0000-000000000000')::uuid from counted where ${hasMore}`;
/**
 * SQL condition that a replay of failed deliveries can deliver the event of `f`. It delivers no test events, and no events from before the
 * counted span.
 */
const isReplayable = `exists (select from events e where e.project_id = $1::uuid and e.id = f.event_id and e.kind = 'event'
  and e.id >= coalesce((${firstOfCut}), $3::uuid) offset 0)`;

/** Reads the newest deliveries of a subscription by the index deliveries_subscription, and counts them and their attempts. */
const selectStats = statement<StatsRow>(
  "read_subscription_stats",
  `with scanned as materialized (${scan}), counted as materialized (${countedDeliveries}), tried as materialized (
     select (p ->> 1)::float8 as at, (p ->> 2)::int4 as ms, (p ->> 5)::int4 as status, substring(p ->> 6 from '^[^ :]*') as error
     from counted d cross join lateral jsonb_array_elements(d.attempt_log) a(entry) ${attemptParts}
   )
   select s.*, r.resendable, t.p95_ms, answers.rows as answers, bars.rows as bars
   from (select ${hasMore} as is_cut, (array_agg(id order by id))[1] as first_id,
       count(*) filter (where state = 'delivered')::int4 as delivered, count(*) filter (where state = 'dead_letter')::int4 as failed,
       count(*) filter (where state = 'pending' and attempts = 0)::int4 as waiting,
       count(*) filter (where state = 'pending' and attempts > 0)::int4 as retrying from counted) s,
     (select count(*)::int4 as resendable from (select distinct event_id from counted where state = 'dead_letter') f
       where not exists (select from deliveries o where o.project_id = $1::uuid and o.event_id = f.event_id
         and ${filterBy("o.subscription_id", "$2::uuid")} and o.state in ('delivered', 'pending') offset 0)
         and ${isReplayable}) r,
     (select percentile_disc(0.95) within group (order by ms) as p95_ms from tried where error = '') t,
     (select jsonb_agg(jsonb_build_array(status, error, n) order by n desc) as rows from (
       select status, error, count(*) as n from tried where error <> '' group by status, error order by n desc limit ${answersMax}) f) answers,
     (select jsonb_agg(jsonb_build_array(part, good, bad) order by part) as rows from (
       select least(floor((at - $4::float8) * ${barsCount} / ($5::float8 - $4::float8)), ${barsCount - 1})::int4 as part,
         count(*) filter (where error = '') as good, count(*) filter (where error <> '') as bad
       from tried where at >= $4::float8 group by part) b) bars`,
);

/** Numbers and times of the deliveries to one subscription in a time span. Times are in epoch milliseconds. */
export type SubscriptionStats = {
  /** Start of the span that is covered. */
  readonly sinceMs: number;
  /** True if the span has more deliveries than are counted. */
  readonly isCut: boolean;
  readonly delivered: number;
  readonly failed: number;
  readonly waiting: number;
  readonly retrying: number;
  /**
   * Number of events of the span whose delivery failed for good, and that have no other delivery that is delivered or pending. Test events
   * and deleted events are not counted, because a replay does not deliver them.
   */
  readonly resendable: number;
  /** 95th percentile of the durations of successful attempts, milliseconds. 0 if there is none. */
  readonly p95Ms: number;
  /** Failed attempts by status and error code, the most frequent first. */
  readonly answers: readonly { readonly statusCode: number; readonly error: string; readonly count: number }[];
  /** Attempts in the parts of the span, earliest first. */
  readonly bars: readonly { readonly atMs: number; readonly succeeded: number; readonly failed: number }[];
};

/**
 * Returns the results of the deliveries to one subscription that were queued in a time span. It reads at most the newest 5,000 deliveries,
 * and at most 16 MiB of stored attempts.
 */
export async function readSubscriptionStats(
  db: Executor,
  projectId: ProjectId,
  id: SubscriptionId,
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): Promise<SubscriptionStats> {
  const endMs = Math.max(untilMs, sinceMs + barsCount);
  const place = [uuidOfId(projectId), uuidOfId(id), firstUuidAt(sinceMs)];
  const [row] = await selectStats(db, [...place, sinceMs, endMs]);
  if (row === undefined) throw new Error("read_subscription_stats returned no row");
  const { is_cut: isCut, first_id: first, answers, bars, p95_ms: p95Ms, ...counts } = row;
  const partsOfBars = new Map((bars ?? []).map(([part, succeeded, failed]) => [part, { succeeded, failed }]));
  return {
    ...{ delivered: counts.delivered, failed: counts.failed, waiting: counts.waiting, retrying: counts.retrying },
    resendable: counts.resendable,
    sinceMs: isCut && first !== null ? timeOfId(idOfUuid("dlv", first)) : sinceMs,
    isCut,
    p95Ms: p95Ms ?? 0,
    answers: (answers ?? []).map(([statusCode, error, count]) => ({ statusCode, error, count })),
    bars: Array.from({ length: barsCount }, (_, part) => ({
      atMs: Math.round(sinceMs + (part * (endMs - sinceMs)) / barsCount),
      ...(partsOfBars.get(part) ?? { succeeded: 0, failed: 0 }),
    })),
  };
}
