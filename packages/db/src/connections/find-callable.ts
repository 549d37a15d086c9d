import { type AccountId, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import type { ConnectedAccountState } from "../schema/connections.ts";
import { statement } from "../statement.ts";
import type { AccountDefinition } from "./repo.ts";

/** What a call needs of an account. */
export type CallableAccountRow = AccountDefinition & {
  id: AccountId;
  entityId: string;
  scheme: string;
  state: ConnectedAccountState;
  variables: Readonly<Record<string, string>>;
  credential: Buffer | null;
  originDigest: Buffer | null;
  grantedScopes: readonly string[];
  /** Epoch milliseconds. */
  expiresAt: number | null;
  lastError: string;
};

type RawRow = {
  id: string;
  toolkit_slug: string;
  is_private: boolean;
  is_sandbox: boolean;
  entity_id: string;
  scheme: string;
  state: ConnectedAccountState;
  variables: string;
  credential: Buffer | null;
  origin_digest: Buffer | null;
  granted_scopes: string;
  expires_ms: number | null;
  last_error: string;
};

const columns = `id, toolkit_slug, is_private, is_sandbox, entity_id, scheme, state, variables::text as variables, credential,
  origin_digest, to_json(granted_scopes)::text as granted_scopes, (extract(epoch from expires_at) * 1000)::float8 as expires_ms, last_error`;

const selectActive = statement<RawRow>(
  "find_active_accounts",
  `select ${columns} from connected_accounts
   where project_id = $1::uuid and toolkit_slug = $2::text and is_private = $3::bool and is_sandbox = $4::bool
     and entity_id = any($5::text[]) and state = 'active'`,
);

/**
 * The active accounts of an entity, one a scheme, and the project's own ones. Runs for every call; connected_accounts_active
 * serves it, which holds nothing but active accounts.
 */
export async function findActiveAccounts(
  db: Executor,
  query: AccountDefinition & { projectId: ProjectId; entityId: string },
): Promise<CallableAccountRow[]> {
  const entities = arrayLiteral(query.entityId === "" ? [""] : [query.entityId, ""]);
  const { toolkitSlug, isPrivate, isSandbox } = query;
  const rows = await selectActive(db, [uuidOfId(query.projectId), toolkitSlug, isPrivate, isSandbox, entities]);
  return rows.map(callableAccountOf);
}

const selectOne = statement<RawRow>(
  "find_callable_account",
  `select ${columns} from connected_accounts where id = $1::uuid and project_id = $2::uuid`,
);

/** An account of a project in any state. Runs for calls that name their account; the key serves it, or connected_accounts_project. */
export async function findCallableAccount(
  db: Executor,
  projectId: ProjectId,
  id: AccountId,
): Promise<CallableAccountRow | undefined> {
  const [row] = await selectOne(db, [uuidOfId(id), uuidOfId(projectId)]);
  return row && callableAccountOf(row);
}

function callableAccountOf(row: RawRow): CallableAccountRow {
  return {
    id: idOfUuid("acc", row.id),
    toolkitSlug: row.toolkit_slug,
    isPrivate: row.is_private,
    isSandbox: row.is_sandbox,
    entityId: row.entity_id,
    scheme: row.scheme,
    state: row.state,
    variables: JSON.parse(row.variables) as Record<string, string>,
    credential: row.credential,
    originDigest: row.origin_digest,
    grantedScopes: JSON.parse(row.granted_scopes) as string[],
    expiresAt: row.expires_ms,
    lastError: row.last_error,
  };
}
