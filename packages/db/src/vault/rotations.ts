import { isoTime, type NodeId, type VaultKey } from "@svc/core";
import { and, desc, eq, isNull, lt, max, ne, or, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { dataKeys, oldSubkeys, vaultCheck, vaultNodes, vaultRotations } from "../schema/index.ts";

/** A rotation of the vault key (its replacement by a new key), with its progress. */
export type VaultRotation = Omit<typeof vaultRotations.$inferSelect, "leaseOwner" | "leaseUntil">;

/** Values that a node compares with its memory to find out if the vault's keys or the state of their rotation have changed. */
export type VaultVersion = {
  /** The last rotation of the vault key (its replacement by a new key). Undefined if the key was never rotated. */
  readonly rotation: Pick<VaultRotation, "number" | "state" | "toKeyId" | "lastOldNumber"> | undefined;
  /**
   * A text made of two numbers: how many data keys exist, and the number of the newest data key. It changes when a data key is created or
   * deleted.
   */
  readonly keys: string;
};

/** A running node and its vault keys. */
export type VaultNode = typeof vaultNodes.$inferSelect;

const lastRotation = sql`select number, state, to_key_id, last_old_number from vault_rotations order by number desc limit 1`;

/**
 * Returns the current version of the vault's keys and rotation, as stored in the database. Each node runs this single statement every few
 * seconds to notice changes.
 */
export async function readVaultVersion(db: Executor): Promise<VaultVersion> {
  const [row] = await db.orm.execute<{
    number: number | null;
    state: VaultRotation["state"];
    to_key_id: string;
    last_old_number: number;
    keys: string;
  }>(sql`select r.*, k.keys from (select count(*) || '/' || coalesce(max(number), 0) as keys from data_keys) k
    left join (${lastRotation}) r on true`);
  const keys = row?.keys ?? "";
  if (row === undefined || row.number === null) return { rotation: undefined, keys };
  const { number, state, to_key_id: toKeyId, last_old_number: lastOldNumber } = row;
  return { rotation: { number, state, toKeyId, lastOldNumber }, keys };
}

/** Returns the last rotation of the vault key (its replacement by a new key), which may be running or done. Undefined if there was none. */
export async function findVaultRotation(db: Executor): Promise<VaultRotation | undefined> {
  const [row] = await db.orm.select().from(vaultRotations).orderBy(desc(vaultRotations.number)).limit(1);
  return row;
}

/**
 * Returns the ids of the vault keys that svc refuses. They are the keys that finished rotations replaced, except keys that a later rotation
 * brought back into use.
 */
export async function listRetiredVaultKeys(db: Executor): Promise<Set<string>> {
  const rows = await db.orm
    .select()
    .from(vaultRotations)
    .where(eq(vaultRotations.state, "done"))
    .orderBy(vaultRotations.number);
  const retired = new Set<string>();
  for (const { fromKeyIds, toKeyId } of rows) {
    for (const id of fromKeyIds) retired.add(id);
    retired.delete(toKeyId);
  }
  return retired;
}

/**
 * Begins a rotation of the vault key (its replacement by a new key) and returns the rotation. Undefined if a rotation is running. Of two
 * calls at the same time, only one begins a rotation.
 */
export function beginVaultRotation(
  db: Executor,
  { toKeyId, fromKeyIds, total, nowMs }: { toKeyId: string; fromKeyIds: string[]; total: number; nowMs: number },
): Promise<VaultRotation | undefined> {
  return withTransaction(db, async (tx) => {
    // Also locks the data keys. A data key that is being created already has a number, so the rotation would otherwise replace it too.
    await tx.orm.execute(sql`lock table vault_rotations, data_keys in exclusive mode`);
    const last = await findVaultRotation(tx);
    if (last !== undefined && last.state !== "done") return undefined;
    const [newest] = await tx.orm.select({ number: max(dataKeys.number) }).from(dataKeys);
    const [begun] = await tx.orm
      .insert(vaultRotations)
      .values({ state: "announced", toKeyId, fromKeyIds, lastOldNumber: newest?.number ?? 0, total, startedAt: nowMs })
      .returning();
    return begun;
  });
}

/**
 * Takes or extends the lease (exclusive right for a limited time) of the running rotation, and returns the rotation. Undefined if no
 * rotation is running, or if another node holds the lease.
 */
export async function leaseVaultRotation(
  db: Executor,
  owner: NodeId,
  { nowMs, leaseMs }: { nowMs: number; leaseMs: number },
): Promise<VaultRotation | undefined> {
  const [row] = await db.orm
    .update(vaultRotations)
    .set({ leaseOwner: owner, leaseUntil: nowMs + leaseMs })
    .where(
      and(
        ne(vaultRotations.state, "done"),
        or(
          isNull(vaultRotations.leaseOwner),
          eq(vaultRotations.leaseOwner, owner),
          lt(vaultRotations.leaseUntil, nowMs),
        ),
      ),
    )
    .returning();
  return row;
}

/**
 * Changes a rotation whose lease (time-limited right) this node holds, and extends the lease. Returns false if another node holds the
 * lease.
 */
export async function moveVaultRotation(
  db: Executor,
  { number, owner, leaseUntil }: { number: number; owner: NodeId; leaseUntil: number },
  change: Partial<VaultRotation>,
): Promise<boolean> {
  const moved = await db.orm
    .update(vaultRotations)
    .set({ ...change, leaseUntil })
    .where(and(eq(vaultRotations.number, number), eq(vaultRotations.leaseOwner, owner)))
    .returning({ number: vaultRotations.number });
  return moved.length === 1;
}

/** Stores that a node runs, with its vault keys and the last rotation whose data keys it has read. */
export async function noteVaultNode(db: Executor, node: VaultNode): Promise<void> {
  const { nodeId: _id, ...set } = node;
  await db.orm.insert(vaultNodes).values(node).onConflictDoUpdate({ target: vaultNodes.nodeId, set });
}

/**
 * Deletes the rows of nodes that no longer run: the node with the id `ended`, and all nodes that last reported before the time
 * `seenBefore`.
 */
export async function forgetVaultNodes(db: Executor, ended: NodeId | undefined, seenBefore: number): Promise<void> {
  const isGone = lt(vaultNodes.seenAt, seenBefore);
  await db.orm.delete(vaultNodes).where(ended === undefined ? isGone : or(eq(vaultNodes.nodeId, ended), isGone));
}

/** Returns the nodes that run, by their last report. `since`: earliest time of this report, in epoch milliseconds. */
export function listVaultNodes(db: Executor, since: number): Promise<VaultNode[]> {
  return db.orm
    .select()
    .from(vaultNodes)
    .where(sql`${vaultNodes.seenAt} >= ${isoTime(since)}::timestamptz`);
}

/** Returns the check value, a sealed known text that shows which vault key wraps the data keys. Undefined before the first start. */
export async function findVaultCheck(db: Executor): Promise<Buffer | undefined> {
  const [row] = await db.orm.select().from(vaultCheck).where(eq(vaultCheck.id, 1));
  return row?.sealed;
}

/**
 * Replaces the check value of the vault. The check value is a known text in encrypted form; it shows which vault key encrypts the data
 * keys.
 */
export async function replaceVaultCheck(db: Executor, sealed: Buffer): Promise<void> {
  await db.orm.update(vaultCheck).set({ sealed }).where(eq(vaultCheck.id, 1));
}

/**
 * A subkey derived from a vault key that will be removed. It is stored, encrypted, so that svc can still verify what it signed with the
 * subkey.
 */
export type OldSubkey = { readonly keyId: VaultKey["id"]; readonly purpose: string; readonly secret: Buffer };

/** Stores subkeys (keys derived from a vault key) before the vault key is removed. svc still needs them to verify what it signed. */
export async function putOldSubkeys(db: Executor, keys: readonly OldSubkey[], nowMs: number): Promise<void> {
  const rows = keys.map((key) => ({ ...key, createdAt: nowMs }));
  if (rows.length > 0) await db.orm.insert(oldSubkeys).values(rows).onConflictDoNothing();
}

/** Returns subkeys derived from removed vault keys. */
export function listOldSubkeys(db: Executor): Promise<OldSubkey[]> {
  return db.orm.select().from(oldSubkeys);
}
