import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import type { ProjectId, Sealer } from "@svc/core";
import type { AuditChain } from "@svc/db/audit/chains";
import type { AuditEvent } from "@svc/db/audit/list";

/** The key of one chain of the audit log: with it alone a row gets its place. */
export type ChainKey = KeyObject;

/** What the chain of a project is sealed for. */
export function chainContext(projectId: ProjectId): string {
  return `deployment/audit_chains/${projectId}`;
}

/** Opens the key of a chain. Throws SealError. */
export function openChainKey({ projectId, key }: Pick<AuditChain, "projectId" | "key">, sealer: Sealer): ChainKey {
  return createSecretKey(sealer.open(key, chainContext(projectId)));
}

/** Of all that a row says, at its place. */
export function eventMac(key: ChainKey, event: AuditEvent, position: number): Buffer {
  const { id, projectId, at, actor, actorId, action, subject, entityDigest, outcome } = event;
  const digest = entityDigest?.toString("hex") ?? null;
  const says = [position, id, projectId, at, actor, actorId, action, subject, digest, outcome];
  return hmac(key, "event", JSON.stringify(says));
}

/** Of a row and all before it: `before` is the hash of the one before it, empty for the first. */
export function linkHash(key: ChainKey, before: Buffer, mac: Buffer): Buffer {
  return hmac(key, "link", `${before.toString("hex")}/${mac.toString("hex")}`);
}

/** Of the end of a chain: whoever removes the last rows has none for the end that is left. */
export function headMac(key: ChainKey, { length, hash }: Pick<AuditChain, "length" | "hash">): Buffer {
  return hmac(key, "head", `${length}/${hash.toString("hex")}`);
}

/** Compares in constant time; null is no value of any. */
export function isSame(expected: Buffer, found: Buffer | null): boolean {
  return found !== null && expected.byteLength === found.byteLength && timingSafeEqual(expected, found);
}

function hmac(key: ChainKey, use: string, text: string): Buffer {
  return createHmac("sha256", key).update(`${use}\n`).update(text).digest();
}
