import { type Binding, type Id, type KeyId, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobs } from "../schema/jobs.ts";
import { filterBy } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** What of a job tells who stands behind it. */
type KeyedPrincipal = { readonly keyId: KeyId; readonly principalChain: readonly string[] };

/** A job's principal chain as its row keeps it: nothing where it is that of its key alone. */
export function storedChain({ keyId, principalChain }: KeyedPrincipal): string[] {
  const isOfKey = principalChain.length === 1 && principalChain[0] === principalOf(keyId);
  return isOfKey ? [] : [...principalChain];
}

/** A job's principal chain. */
export function chainOfJob({ keyId, principalChain }: KeyedPrincipal): string[] {
  return principalChain.length === 0 ? [principalOf(keyId)] : [...principalChain];
}

function principalOf(keyId: KeyId): string {
  return `key:${keyId}`;
}

const columns = selectList(jobs, ["id", "binding"], "j");

/** By primary keys. Runs for calls of bound keys alone. */
const selectBindings = statement<RawRow<Pick<typeof jobs.$inferSelect, "id" | "binding">>>(
  "read_job_bindings",
  `select ${columns.text} from jobs j where j.id = any($1::uuid[]) and ${filterBy("j.project_id", "$2::uuid")}`,
);

/** What jobs of a project are bound to; null for nothing. A job that is not there has no entry. */
export async function readJobBindings(
  db: Executor,
  projectId: ProjectId,
  ids: readonly Id<"job">[],
): Promise<ReadonlyMap<Id<"job">, Binding | null>> {
  if (ids.length === 0) return new Map();
  const rows = await selectBindings(db, [arrayLiteral(ids.map(uuidOfId)), uuidOfId(projectId)]);
  return new Map(rows.map((row) => columns.read(row)).map(({ id, binding }) => [id, binding]));
}
