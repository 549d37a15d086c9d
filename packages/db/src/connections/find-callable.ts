import { type AccountId, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { connectedAccounts } from "../schema/connections.ts";
import { filterBy } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { AccountDefinition } from "./account.ts";

const columns = selectList(connectedAccounts, [
  "id",
  "toolkitSlug",
  "isPrivate",
  "isSandbox",
  "entityId",
  "scheme",
  "state",
  "variables",
  "credential",
  "originDigest",
  "grantedScopes",
  "expiresAt",
  "lastError",
  "credentialTriedAt",
  "isCredentialTaken",
]);

/** Columns of a connected account that svc needs to make a tool call with it. */
export type CallableAccountRow = ReturnType<typeof columns.read>;

const selectActive = statement<RawRow<CallableAccountRow>>(
  "find_active_accounts",
  `select ${columns.text} from connected_accounts
   where project_id = $1::uuid and toolkit_slug = $2::text and is_private = $3::bool and is_sandbox = $4::bool
     and entity_id = any($5::text[]) and state = 'active'`,
);

/**
 * Returns the active accounts for one toolkit that belong to an entity (customer or user) or to the project itself. svc runs this for every
 * call.
 */
export async function findActiveAccounts(
  db: Executor,
  query: AccountDefinition & { projectId: ProjectId; entityId: string },
): Promise<CallableAccountRow[]> {
  const entities = arrayLiteral(query.entityId === "" ? [""] : [query.entityId, ""]);
  const { toolkitSlug, isPrivate, isSandbox } = query;
  // One search for both kinds of accounts took less than half the time of two searches.
  const rows = await selectActive(db, [uuidOfId(query.projectId), toolkitSlug, isPrivate, isSandbox, entities]);
  return rows.map(columns.read);
}

const selectOne = statement<RawRow<CallableAccountRow>>(
  "find_callable_account",
  `select ${columns.text} from connected_accounts where id = $1::uuid and ${filterBy("project_id", "$2::uuid")}`,
);

/**
 * Returns an account of a project by its id, in any state; undefined if it does not exist. svc runs this for calls that name their account.
 * Uses the primary key.
 */
export async function findCallableAccount(
  db: Executor,
  projectId: ProjectId,
  id: AccountId,
): Promise<CallableAccountRow | undefined> {
  const [row] = await selectOne(db, [uuidOfId(id), uuidOfId(projectId)]);
  return row && columns.read(row);
}
