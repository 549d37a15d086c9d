import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { toolCalls } from "../schema/calls.ts";
import { fieldsOf, type Row, text } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows } from "../sql/parts.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";

/** A call that holds an idempotency key. */
export type ToolCallKeyHolder = Row<
  typeof toolCalls,
  "id" | "accessClass" | "outcome" | "argumentsDigest" | "replay" | "createdAt"
>;

/** An idempotency key of a project. */
export type ToolCallKey = { readonly projectId: ProjectId; readonly key: string };

const holderColumns = selectList(
  toolCalls,
  ["id", "accessClass", "outcome", "argumentsDigest", "replay", "createdAt"],
  "c",
);

/** Served by tool_calls_idempotency_key, which holds at most one row a key. */
const selectHolders = compose(
  "find_idempotency_keys",
  { wanted: rows({ ...fieldsOf(toolCalls, "projectId"), key: text }) },
  ({ wanted }) => query<RawRow<ToolCallKeyHolder> & { project: string; key: string }>`
    select c.project_id as project, wanted.key, ${holderColumns.text} from ${wanted.from("wanted")}
    join tool_calls c on c.project_id = wanted.project_id and c.idempotency_key = wanted.key`,
);

/** The calls that hold idempotency keys, one a key in order; undefined for a key that none holds. One round trip. */
export async function findToolCallKeyHolders(
  db: Executor,
  wanted: readonly ToolCallKey[],
): Promise<(ToolCallKeyHolder | undefined)[]> {
  const found = await selectHolders(db, { wanted });
  const holders = new Map(
    found.map(({ project, key, ...row }) => [`${project}/${key}`, holderColumns.read(row)] as const),
  );
  return wanted.map(({ projectId, key }) => holders.get(`${uuidOfId(projectId)}/${key}`));
}
