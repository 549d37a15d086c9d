import type { Id } from "@svc/core";
import type { Executor } from "../connect.ts";
import { idOf, int4, timestamptz } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows, values } from "../sql/parts.ts";
import { logRowColumns, logRowFields, logRowsOf } from "./log-rows.ts";
import type { NewJobEvent } from "./record.ts";

/** `changed` takes the places of the new entries from the job's row. By primary keys. */
const appendEvents = compose(
  "append_job_events",
  {
    log: values({ jobId: idOf("job"), count: int4, now: timestamptz }),
    events: rows(logRowFields),
  },
  ({ log, events }) => query<{ last_seq: number }>`with changed as (
    update jobs set last_seq = last_seq + ${log.count}, updated_at = ${log.now} where id = ${log.jobId} returning last_seq
  ), logged as (
    insert into job_events (job_id, seq, at, ${logRowColumns.columns})
    select ${log.jobId}, c.last_seq - ${log.count} + e.seq, ${log.now}, ${logRowColumns.values("e")}
    from changed c, ${events.from("e")}
  )
  select last_seq from changed`,
);

/** Appends to a job's log from outside its driver; returns the last seq. Other changes of the same transaction follow `lockJob`. */
export async function appendJobEvents(
  tx: Executor,
  jobId: Id<"job">,
  events: readonly NewJobEvent[],
  nowMs: number,
): Promise<number> {
  const [row] = await appendEvents(tx, { log: { jobId, count: events.length, now: nowMs }, events: logRowsOf(events) });
  return row?.last_seq ?? 0;
}
