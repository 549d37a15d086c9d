import { type EventId, type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** By primary key. */
const addEvent = statement<{ id: string }>(
  "add_ask_event",
  "update job_asks set event_ids = event_ids || $2::text where id = $1::uuid",
);

/** Notes the event that an ask was published as. */
export async function addAskEvent(tx: Executor, id: Id<"ask">, eventId: EventId): Promise<void> {
  await addEvent(tx, [uuidOfId(id), eventId]);
}
