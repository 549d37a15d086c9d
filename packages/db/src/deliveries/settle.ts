import { type DeliveryId, idOfUuid, type NodeId, type ProjectId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";

/** How one attempt went and what becomes of its delivery. */
export type Settlement = {
  id: DeliveryId;
  projectId: ProjectId;
  state: "pending" | "delivered" | "dead_letter";
  /** Number of this attempt, from 1. */
  number: number;
  /** When it is tried again; of meaning only while `pending`. */
  dueAtMs: number;
  /** Empty when delivered; else begins with a code. */
  error: string;
  startedAtMs: number;
  durationMs: number;
  requestUrl: string;
  address: string;
  statusCode: number;
  responseHeaders: Record<string, string>;
  responseBody: string;
};

/**
 * Writes a batch of attempts together with the state changes they cause: one statement, one commit.
 * Only tasks still leased to `owner` are settled: a task whose lease ran out belongs to whoever claimed it since, and
 * its attempt here is neither counted nor logged. Served by the primary keys; the update of deliveries is HOT, because
 * no index of that table names a column it changes.
 */
const settleDeliveries = statement<{ delivery_id: string }>(
  "settle_deliveries",
  `with input as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int4[], $5::timestamptz[], $6::text[], $7::timestamptz[],
                         $8::int4[], $9::text[], $10::int4[], $11::jsonb[], $12::text[], $14::text[])
      as i(id, project_id, state, number, due_at, error, started_at, duration_ms, address, status_code, response_headers, response_body, request_url)
  ), ended as (
    delete from delivery_tasks t using input i
    where t.delivery_id = i.id and t.lease_owner = $13::uuid and i.state <> 'pending'
    returning t.delivery_id
  ), rescheduled as (
    update delivery_tasks t set due_at = i.due_at, attempts = i.number, lease_owner = null, lease_until = null
    from input i where t.delivery_id = i.id and t.lease_owner = $13::uuid and i.state = 'pending'
    returning t.delivery_id
  ), held as materialized (
    select i.* from input i join (select delivery_id from ended union all select delivery_id from rescheduled) h on h.delivery_id = i.id
  ), changed as (
    update deliveries d set state = h.state, attempts = h.number, last_error = h.error, last_attempt_at = h.started_at
    from held h where d.project_id = h.project_id and d.id = h.id
  ), logged as (
    insert into delivery_attempts (project_id, delivery_id, number, started_at, duration_ms, address, status_code, error, response_headers, response_body, request_url)
    select project_id, id, number, started_at, duration_ms, address, status_code, error, response_headers, response_body, request_url from held
  )
  select i.id as delivery_id from input i where not exists (select from held h where h.id = i.id)`,
);

/** Settles `settlements` in one commit. Returns the deliveries whose lease was lost before: nothing of them was written. */
export async function settle(db: Executor, owner: NodeId, settlements: readonly Settlement[]): Promise<DeliveryId[]> {
  const column = (value: (settlement: Settlement) => string) => arrayLiteral(settlements.map(value));
  const lost = await settleDeliveries(db, [
    column((s) => uuidOfId(s.id)),
    column((s) => uuidOfId(s.projectId)),
    column((s) => s.state),
    column((s) => String(s.number)),
    column((s) => new Date(s.dueAtMs).toISOString()),
    column((s) => s.error),
    column((s) => new Date(s.startedAtMs).toISOString()),
    column((s) => String(s.durationMs)),
    column((s) => s.address),
    column((s) => String(s.statusCode)),
    column((s) => JSON.stringify(s.responseHeaders)),
    column((s) => s.responseBody),
    uuidOfId(owner),
    column((s) => s.requestUrl),
  ]);
  return lost.map((row) => idOfUuid("dlv", row.delivery_id));
}
