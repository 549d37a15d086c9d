import { isoTime, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { timeOfColumn } from "../schema/columns.ts";
import { arrayLiteral, bytesArrayLiteral, plainArrayLiteral, statement } from "../sql/statement.ts";

/** A stored embedding vector of a tool's text. `usedAt`: last use, accurate to about a day. */
export type ToolVector = { readonly digest: string; readonly vector: Buffer; readonly usedAt: number };

/**
 * Identifies the text of a tool for which a search vector is needed. `digest`: key of the vector. `projectId`: undefined for tools of the
 * shared catalog.
 */
export type ToolTextKey = { readonly digest: string; readonly projectId: ProjectId | undefined };

const readVectors = statement<{ digest: string; vector: Buffer; used_at: string }>(
  "read_tool_vectors",
  `select digest, vector, used_at from tool_vectors
   where digest = any($1::text[]) and vector is not null and project_id is not distinct from $2::uuid`,
);

/**
 * Returns the stored search vectors of tools with these digests. A digest without a stored vector is absent. Reads only vectors of the
 * project `projectId`, or of the shared catalog if it is undefined. Uses tool_vectors_pkey.
 */
export async function readToolVectors(
  db: Executor,
  digests: readonly string[],
  projectId: ProjectId | undefined,
): Promise<ToolVector[]> {
  const owner = projectId === undefined ? null : uuidOfId(projectId);
  const rows = await readVectors(db, [arrayLiteral(digests), owner]);
  return rows.map(({ digest, vector, used_at }) => ({ digest, vector, usedAt: timeOfColumn(used_at) }));
}

const claimTexts = statement<{ digest: string }>(
  "claim_tool_vectors",
  `insert into tool_vectors (digest, project_id, claimed_until, used_at)
   select i.digest, i.project_id, $3::timestamptz, $4::timestamptz
   from unnest($1::text[], $2::uuid[]) as i(digest, project_id) order by i.digest
   on conflict (digest) do update set claimed_until = excluded.claimed_until
     where tool_vectors.vector is null and tool_vectors.claimed_until <= excluded.used_at
   returning digest`,
);

/**
 * Reserves texts of tools until `untilMs`, so that only this node requests their search vectors. Returns the digests of the reserved texts.
 * Texts that have a vector or that another node has reserved are absent.
 */
export async function claimToolVectors(
  db: Executor,
  keys: readonly ToolTextKey[],
  { untilMs, nowMs }: { readonly untilMs: number; readonly nowMs: number },
): Promise<Set<string>> {
  const owners = keys.map(({ projectId }) => (projectId === undefined ? null : uuidOfId(projectId)));
  const digests = arrayLiteral(keys.map(({ digest }) => digest));
  const rows = await claimTexts(db, [digests, plainArrayLiteral(owners), isoTime(untilMs), isoTime(nowMs)]);
  return new Set(rows.map(({ digest }) => digest));
}

const keepVectors = statement(
  "keep_tool_vectors",
  `update tool_vectors v set vector = i.vector, used_at = $3::timestamptz
   from unnest($1::text[], $2::bytea[]) as i(digest, vector) where v.digest = i.digest`,
);

/** Stores the search vectors of tools' texts. Vectors of a project that was deleted in the meantime are not stored. */
export async function keepToolVectors(
  db: Executor,
  vectors: readonly { readonly digest: string; readonly vector: Uint8Array }[],
  nowMs: number,
): Promise<void> {
  const digests = arrayLiteral(vectors.map(({ digest }) => digest));
  await keepVectors(db, [digests, bytesArrayLiteral(vectors.map(({ vector }) => vector)), isoTime(nowMs)]);
}

const releaseTexts = statement(
  "release_tool_vectors",
  "delete from tool_vectors where digest = any($1::text[]) and vector is null",
);

/** Gives up this node's claim to request the vectors of these texts, so that any node may request them at once. */
export async function releaseToolVectors(db: Executor, digests: readonly string[]): Promise<void> {
  await releaseTexts(db, [arrayLiteral(digests)]);
}

const touchVectors = statement(
  "touch_tool_vectors",
  "update tool_vectors set used_at = $2::timestamptz where digest = any($1::text[])",
);

/**
 * Records that the search vectors of the tool texts with these digests were used at `nowMs`, so that the sweep of unused vectors keeps
 * them.
 */
export async function touchToolVectors(db: Executor, digests: readonly string[], nowMs: number): Promise<void> {
  await touchVectors(db, [arrayLiteral(digests), isoTime(nowMs)]);
}

/** Deletes search vectors of tools that were last used before a given time, oldest first. Finds them by the index tool_vectors_used. */
const sweepVectors = statement<{ digest: string }>(
  "sweep_tool_vectors",
  `delete from tool_vectors v using (
     select digest from tool_vectors where used_at < $1::timestamptz
     order by used_at limit $2::int4 for update skip locked) old
   where v.digest = old.digest returning v.digest`,
);

/** Deletes up to `limit` vectors that were not used since `beforeMs`; returns how many. */
export async function sweepToolVectors(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepVectors(db, [isoTime(beforeMs), limit])).length;
}
