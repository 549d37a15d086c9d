import { type Id, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { filterBy } from "../sql/filter.ts";
import { statement } from "../sql/statement.ts";
import type { ToolCallKey } from "./find-key-holders.ts";

/** By primary key. */
const releaseKey = statement<{ id: string }>(
  "release_idempotency_key",
  `update tool_calls set idempotency_key = null
   where ${filterBy("project_id", "$1::uuid")} and ${filterBy("idempotency_key", "$2::text")} and id = $3::uuid returning id`,
);

/** Takes the key from a call that holds it; false when it does not hold it any more. */
export async function releaseToolCallKey(
  db: Executor,
  { projectId, key, id }: ToolCallKey & { id: Id<"call"> },
): Promise<boolean> {
  return (await releaseKey(db, [uuidOfId(projectId), key, uuidOfId(id)])).length > 0;
}
