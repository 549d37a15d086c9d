import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import type { ProjectId, Sealer } from "@svc/core";
import type { AuditChain } from "@svc/db/audit/chains";
import type { AuditEvent } from "@svc/db/audit/list";

/**
 * Key of one chain of the audit log. A chain links the rows of one project by hashes. Without the key, no valid hash can be computed for a
 * new or changed row.
 */
export type ChainKey = KeyObject;

/**
 * Returns the sealing context (name to which an encrypted value is bound) for the key of a project's audit chain. The chain makes later
 * changes to the project's audit log visible.
 */
export function chainContext(projectId: ProjectId): string {
  return `deployment/audit_chains/${projectId}`;
}

/** Decrypts the key that protects a project's chain of audit log rows against changes. Throws SealError. */
export function openChainKey({ projectId, key }: Pick<AuditChain, "projectId" | "key">, sealer: Sealer): ChainKey {
  return createSecretKey(sealer.open(key, chainContext(projectId)));
}

/** Returns the MAC (keyed hash) of a row's whole content and of its position in the chain of audit rows. */
export function eventMac(key: ChainKey, event: AuditEvent, position: number): Buffer {
  const { id, projectId, at, actor, actorId, action, subject, entityDigest, outcome } = event;
  const digest = entityDigest?.toString("hex") ?? null;
  const says = [position, id, projectId, at, actor, actorId, action, subject, digest, outcome];
  return hmac(key, "event", JSON.stringify(says));
}

/**
 * Returns the hash by which the audit log's chain links a row to all rows before it. A change of any earlier row would change the hash.
 * `before`: hash of the previous row; empty for the first row. `mac`: MAC of the row itself.
 */
export function linkHash(key: ChainKey, before: Buffer, mac: Buffer): Buffer {
  return hmac(key, "link", `${before.toString("hex")}/${mac.toString("hex")}`);
}

/**
 * Returns the MAC (keyed hash) of the end of an audit chain (hashes that link the rows of an audit log). Attackers who remove the last rows
 * cannot compute the MAC of the new end.
 */
export function headMac(key: ChainKey, { length, hash }: Pick<AuditChain, "length" | "hash">): Buffer {
  return hmac(key, "head", `${length}/${hash.toString("hex")}`);
}

/** True if two hashes are equal. Compares in constant time; null is never equal. */
export function isSame(expected: Buffer, found: Buffer | null): boolean {
  return found !== null && expected.byteLength === found.byteLength && timingSafeEqual(expected, found);
}

function hmac(key: ChainKey, use: string, text: string): Buffer {
  return createHmac("sha256", key).update(`${use}\n`).update(text).digest();
}
