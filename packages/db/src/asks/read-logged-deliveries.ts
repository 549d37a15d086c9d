import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";
import type { AskRecord } from "./repo.ts";

/** `case` and not `and`: no other entry's payload is read as JSON. Served by job_events_key, from the log's end. */
const readLogged = statement<{ id: string; state: string }>(
  "read_logged_ask_deliveries",
  `select a.id, e.state from unnest($1::uuid[], $2::text[]) as a(job_id, id)
   cross join lateral (
     select payload::jsonb ->> 'to' as state from job_events
     where job_id = a.job_id and case when type = 'ask-delivery-changed'
       then payload::jsonb ->> 'via' = 'endpoints' and payload::jsonb ->> 'requestId' = a.id else false end
     order by seq desc limit 1) e`,
);

/** The fate of asks' publications as their jobs' logs last told it; one that no entry tells of is absent. */
export async function readLoggedAskDeliveries(
  db: Executor,
  asks: readonly Pick<AskRecord, "id" | "jobId">[],
): Promise<Map<Id<"ask">, string>> {
  if (asks.length === 0) return new Map();
  const rows = await readLogged(db, [
    arrayLiteral(asks.map(({ jobId }) => uuidOfId(jobId))),
    arrayLiteral(asks.map(({ id }) => id)),
  ]);
  const known = new Map(rows.map(({ id, state }) => [id, state]));
  return new Map(asks.flatMap(({ id }) => (known.has(id) ? [[id, known.get(id) ?? ""] as const] : [])));
}
