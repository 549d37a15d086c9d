import { type ProjectId, uuidOfId } from "@svc/core";
import { and, asc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte, notInArray, or, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { toolCalls } from "../schema/calls.ts";
import { auditChains, auditEvents } from "../schema/projects.ts";
import { arrayLiteral, bytesArrayLiteral } from "../sql/statement.ts";
import type { AuditEvent } from "./list.ts";

/** A chain of the audit log: entries of one project, numbered and linked by hashes. */
export type AuditChain = typeof auditChains.$inferSelect;

/** An entry of the audit log with its position in its project's chain of entries, in which each hash depends on the entry before. */
export type ChainedAuditEvent = Pick<AuditEvent, "id" | "entityDigest"> & {
  readonly outcome: string;
  readonly position: number;
  readonly mac: Buffer;
  readonly hash: Buffer;
};

/**
 * Number of the database lock that a node holds while it adds entries to audit chains. In such a chain, each entry contains the hash of the
 * previous one. The number can be any number that svc uses for no other lock.
 */
const chainingLock = 7_301_948_220;

/**
 * Tries to lock the audit chains until the end of this transaction. Returns true if it got the lock; false if another transaction holds it.
 */
export async function lockAuditChains(tx: Executor): Promise<boolean> {
  const [row] = await tx.orm.execute<{ locked: boolean }>(
    sql`select pg_try_advisory_xact_lock(${chainingLock}::int8) as locked`,
  );
  return row?.locked === true;
}

/**
 * Selects audit entries that are not yet linked to their project's chain. Entries with an outcome match; without an outcome, only those
 * older than `unknownBefore`. `without`: projects whose entries do not match.
 */
export type UnchainedFilter = { readonly unknownBefore: number; readonly without: readonly ProjectId[] };

function isUnchained({ unknownBefore, without }: UnchainedFilter) {
  const isOver = or(isNotNull(auditEvents.outcome), lt(auditEvents.at, unknownBefore));
  const isElsewhere = without.length === 0 ? undefined : notInArray(auditEvents.projectId, [...without]);
  // The cell in which a project works has the end of its chain.
  const isAway = sql`exists (select from projects p where p.id = ${auditEvents.projectId} and p.hold in ('moved', 'arriving'))`;
  return and(isNull(auditEvents.position), isOver, isElsewhere, sql`not ${isAway}`);
}

/**
 * Returns true if any audit log entry without a position in its project's chain matches the filter. Uses the index audit_events_waiting,
 * which contains only such entries.
 */
export async function hasUnchainedAuditEvents(db: Executor, filter: UnchainedFilter): Promise<boolean> {
  const rows = await db.orm.select({ id: auditEvents.id }).from(auditEvents).where(isUnchained(filter)).limit(1);
  return rows.length > 0;
}

/**
 * Returns the oldest audit log entries that have no position in their project's chain yet and match the filter. Returns at most `limit`,
 * and locks them for the rest of the transaction.
 */
export function listUnchainedAuditEvents(
  tx: Executor,
  { limit, ...filter }: UnchainedFilter & { readonly limit: number },
): Promise<AuditEvent[]> {
  return tx.orm
    .select()
    .from(auditEvents)
    .where(isUnchained(filter))
    .orderBy(asc(auditEvents.id))
    .limit(limit)
    .for("update");
}

/** Returns the entities (customers or users) of tool calls, by the UUID of the call. Calls without an entity are absent. */
export async function findSentEntities(tx: Executor, uuids: readonly string[]): Promise<Map<string, string>> {
  if (uuids.length === 0) return new Map();
  const rows = await tx.orm.execute<{ id: string; entity_id: string }>(
    sql`select id, entity_id from ${toolCalls} where id = any(${arrayLiteral([...uuids])}::uuid[]) and entity_id <> ''`,
  );
  return new Map(rows.map(({ id, entity_id: entityId }) => [id, entityId]));
}

/**
 * Returns the audit chains of these projects. In an audit chain, each entry contains the hash of the previous one. A project without a
 * chain is absent from the result.
 */
export function findAuditChains(tx: Executor, projectIds: readonly ProjectId[]): Promise<AuditChain[]> {
  return tx.orm
    .select()
    .from(auditChains)
    .where(inArray(auditChains.projectId, [...projectIds]));
}

/**
 * Returns the audit chain (linked audit entries) of the given project, or of the next project that has one, in the order of project ids.
 * `isBehind`: true to begin with the next project. Returns undefined after the last chain. With it, a caller visits all chains in turn.
 */
export async function findAuditChainFrom(
  db: Executor,
  projectId: ProjectId,
  isBehind: boolean,
): Promise<AuditChain | undefined> {
  const [row] = await db.orm
    .select()
    .from(auditChains)
    .where(isBehind ? gt(auditChains.projectId, projectId) : gte(auditChains.projectId, projectId))
    .orderBy(asc(auditChains.projectId))
    .limit(1);
  return row;
}

/**
 * Stores the audit chain of a project, with its length, the hash of its last entry and the checksum of both. If the project already has a
 * chain, these three values replace the stored ones.
 */
export async function putAuditChain(tx: Executor, chain: AuditChain): Promise<void> {
  const { length, hash, mac } = chain;
  await tx.orm
    .insert(auditChains)
    .values(chain)
    .onConflictDoUpdate({ target: auditChains.projectId, set: { length, hash, mac } });
}

/**
 * Adds entries of the audit log to the chains of their projects. A chain links entries by hashes. Stores the position, the hashes and the
 * outcome of each entry. An entry that already has a position does not change.
 */
export async function chainAuditEvents(tx: Executor, events: readonly ChainedAuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.sql.unsafe(
    `update audit_events e set position = v.position, mac = v.mac, hash = v.hash, outcome = v.outcome, about_digest = v.digest
     from unnest($1::uuid[], $2::int4[], $3::bytea[], $4::bytea[], $5::text[], $6::bytea[]) as v(id, position, mac, hash, outcome, digest)
     where e.id = any($1::uuid[]) and e.id = v.id and e.position is null`,
    [
      arrayLiteral(events.map(({ id }) => uuidOfId(id))),
      arrayLiteral(events.map(({ position }) => String(position))),
      bytesArrayLiteral(events.map(({ mac }) => mac)),
      bytesArrayLiteral(events.map(({ hash }) => hash)),
      arrayLiteral(events.map(({ outcome }) => outcome)),
      bytesArrayLiteral(events.map(({ entityDigest }) => entityDigest)),
    ],
  );
}

/**
 * Returns entries of a project's audit chain (audit entries linked by hashes) whose positions are between `from` and `to`, both included, in
 * this order. Returns at most `limit` entries.
 */
export function listChainedAuditEvents(
  db: Executor,
  projectId: ProjectId,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<AuditEvent[]> {
  const isWithin = and(gte(auditEvents.position, from), lte(auditEvents.position, to));
  return db.orm
    .select()
    .from(auditEvents)
    .where(and(eq(auditEvents.projectId, projectId), isWithin))
    .orderBy(asc(auditEvents.position))
    .limit(limit);
}

/**
 * Returns the projects whose audit chain (the sequence of linked audit entries) is broken. Either the project's entries have positions but
 * the chain is missing, or an entry has a position below 1 or above the chain's length.
 */
export async function findBrokenAuditChains(
  db: Executor,
): Promise<{ projectId: ProjectId; length: number | null; first: number; last: number }[]> {
  const placed = db.orm
    .select({
      projectId: auditEvents.projectId,
      first: sql<number>`min(${auditEvents.position})`.as("first"),
      last: sql<number>`max(${auditEvents.position})`.as("last"),
    })
    .from(auditEvents)
    .where(sql`${auditEvents.position} is not null`)
    .groupBy(auditEvents.projectId)
    .as("placed");
  return await db.orm
    .select({ projectId: placed.projectId, first: placed.first, last: placed.last, length: auditChains.length })
    .from(placed)
    .leftJoin(auditChains, eq(auditChains.projectId, placed.projectId))
    .where(or(isNull(auditChains.projectId), sql`${placed.first} < 1`, sql`${placed.last} > ${auditChains.length}`));
}

/**
 * Returns those of the given projects that have an audit chain. An audit chain links the entries of a project's audit log, so that a
 * changed or missing entry is noticed.
 */
export async function findChainedProjects(db: Executor, projectIds: readonly ProjectId[]): Promise<Set<ProjectId>> {
  if (projectIds.length === 0) return new Set();
  const rows = await db.orm
    .select({ projectId: auditChains.projectId })
    .from(auditChains)
    .where(inArray(auditChains.projectId, [...projectIds]));
  return new Set(rows.map(({ projectId }) => projectId));
}
