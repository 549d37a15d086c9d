import { type Binding, type Id, type KeyId, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobs } from "../schema/jobs.ts";
import { filterBy } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** Columns of a job from which the cause of the job is read: the key that submitted it, and the stored list of keys and programs. */
type KeyedPrincipal = { readonly keyId: KeyId; readonly principalChain: readonly string[] };

/**
 * Returns a job's principal chain (the keys and programs that caused the job, in order) as the database stores it. If only the job's own
 * key caused the job, the stored chain is empty.
 */
export function storedChain({ keyId, principalChain }: KeyedPrincipal): string[] {
  const isOfKey = principalChain.length === 1 && principalChain[0] === principalOf(keyId);
  return isOfKey ? [] : [...principalChain];
}

/** Returns the keys and programs that caused a job, in order. If no list is stored, the only cause is the key that submitted the job. */
export function chainOfJob({ keyId, principalChain }: KeyedPrincipal): string[] {
  return principalChain.length === 0 ? [principalOf(keyId)] : [...principalChain];
}

function principalOf(keyId: KeyId): string {
  return `key:${keyId}`;
}

const columns = selectList(jobs, ["id", "binding"], "j");

/**
 * Reads the access scopes of jobs. Finds the jobs by their primary key. It runs only for calls with a scoped key, which may see only some
 * jobs.
 */
const selectBindings = statement<RawRow<Pick<typeof jobs.$inferSelect, "id" | "binding">>>(
  "read_job_bindings",
  `select ${columns.text} from jobs j where j.id = any($1::uuid[]) and ${filterBy("j.project_id", "$2::uuid")}`,
);

/** Returns the access scopes of a project's jobs. A job without a limited scope has null; a job that does not exist has no entry. */
export async function readJobBindings(
  db: Executor,
  projectId: ProjectId,
  ids: readonly Id<"job">[],
): Promise<ReadonlyMap<Id<"job">, Binding | null>> {
  if (ids.length === 0) return new Map();
  const rows = await selectBindings(db, [arrayLiteral(ids.map(uuidOfId)), uuidOfId(projectId)]);
  return new Map(rows.map((row) => columns.read(row)).map(({ id, binding }) => [id, binding]));
}
