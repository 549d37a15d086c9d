import { randomFillSync } from "node:crypto";
import { fromString } from "typeid-js";
import { v7 } from "uuid";
import { readTypeId, readUuid, typeIdOfBytes, uuidOfBytes } from "./type-id.ts";

/** Prefix of each kind of id. A full id is `<prefix>_<26 base32 characters>`: a TypeID of a UUIDv7. */
export type IdPrefix =
  | "prj"
  | "key"
  | "sub"
  | "evt"
  | "dlv"
  | "acc"
  | "qrn"
  | "job"
  | "ask"
  | "apr"
  | "aep"
  | "call"
  | "stp"
  | "srn"
  | "bkf"
  | "rpl"
  | "ses"
  | "lnk"
  | "grt"
  | "aud"
  | "hok"
  | "ers"
  | "wsc"
  | "per"
  | "node";

/**
 * An id of one kind, such as the id of an event. Only this file creates ids. So the type checker reports an error if code passes the id of
 * an event where the id of a delivery is needed.
 */
export type Id<P extends IdPrefix> = string & { readonly __prefix: P };

/** Id of a project. */
export type ProjectId = Id<"prj">;
/** Id of an API key (never the key itself). */
export type KeyId = Id<"key">;
/** Id of a subscription. */
export type SubscriptionId = Id<"sub">;
/** Id of an event. */
export type EventId = Id<"evt">;
/** Id of a delivery. */
export type DeliveryId = Id<"dlv">;
/** Id of a connected account. */
export type AccountId = Id<"acc">;
/** Id of a quarantined webhook post (which svc could not turn into an event). */
export type QuarantineId = Id<"qrn">;
/** Id of a standing program (which starts jobs on a schedule or event). */
export type StandingProgramId = Id<"stp">;
/** Id of a run of a standing program (a program that starts jobs on a schedule or event). */
export type StandingRunId = Id<"srn">;
/** Id of a backfill of a standing program (which starts jobs on a schedule or event). */
export type BackfillId = Id<"bkf">;
/** Id of a throttled replay. */
export type ReplayId = Id<"rpl">;
/** Id of a person's session in the console. */
export type SessionId = Id<"ses">;
/** Id of a link that a person without an API key opens, for example to answer a question or to connect an account. */
export type LinkId = Id<"lnk">;
/** Id of a grant, a person's permission for an agent. */
export type GrantId = Id<"grt">;
/** Id of a person who signs in with an account of the company's identity provider. */
export type PersonId = Id<"per">;
/** Id of a hook (an endpoint that checks tool calls). */
export type HookId = Id<"hok">;
/** Id of an entry of the audit log. */
export type AuditId = Id<"aud">;

/** Id of a secret of the webhook of a private toolkit (an app that one project defined for itself). */
export type WebhookSecretId = Id<"wsc">;
/** Id of the erasure (deletion of all data) of an entity (customer or user) or a project. */
export type ErasureId = Id<"ers">;
/** Id of one running process of the service. The process that holds a lease (the temporary right to a task) is recorded by this id. */
export type NodeId = Id<"node">;

/**
 * Returns a new id with the time `atMs` (epoch milliseconds). Ids sort by this time. Ids that one process creates in the same millisecond
 * sort in the order of creation, so that the database inserts them at the end of its indexes.
 */
export function createId<P extends IdPrefix>(prefix: P, atMs: number): Id<P> {
  v7({ msecs: atMs, seq: nextSequence(atMs), random: randomBytes16() }, bytes);
  return typeIdOfBytes(prefix, bytes) as Id<P>;
}

/** Returns the id that `text` spells; undefined if it is not a well-formed id with this prefix. */
export function parseId<P extends IdPrefix>(prefix: P, text: string): Id<P> | undefined {
  if (!text.startsWith(`${prefix}_`) || text.length !== prefix.length + 27) return undefined;
  try {
    return fromString(text, prefix) as unknown as Id<P>;
  } catch {
    return undefined; // a character is not base32, or the value is too large: not an id
  }
}

/** Returns an id's UUID as text, as PostgreSQL stores it. */
export function uuidOfId(id: Id<IdPrefix>): string {
  const place = ((id.charCodeAt(id.length - 6) << 5) ^ id.charCodeAt(id.length - 5)) & (rememberedIds - 1);
  let known = remembered[place];
  if (known?.id !== id) {
    known = { id, uuid: uuidOfBytes(readTypeId(id, bytes)) };
    remembered[place] = known;
  }
  return known.uuid;
}

/**
 * Number of UUIDs that the cache below keeps. The characters before the last four, which are random, select its position in the cache. The
 * cache helps because the statements of a job contain the same few ids again and again.
 */
const rememberedIds = 1024;
const remembered: ({ readonly id: string; readonly uuid: string } | undefined)[] = Array.from({
  length: rememberedIds,
});

/** Returns the id of this kind for a UUID from the database. */
export function idOfUuid<P extends IdPrefix>(prefix: P, uuid: string): Id<P> {
  return typeIdOfBytes(prefix, readUuid(uuid, bytes)) as Id<P>;
}

/** Returns the time part of an id, epoch milliseconds. */
export function timeOfId(id: Id<IdPrefix>): number {
  return Number.parseInt(uuidOfId(id).replaceAll("-", "").slice(0, 12), 16);
}

/**
 * Returns the smallest UUID that an id of the millisecond `ms` can have. Ids created at `ms` or later sort after it, so a query can use it
 * instead of a time. For times before 1970, returns the smallest UUID of all.
 */
export function firstUuidAt(ms: number): string {
  const hex = Math.max(0, Math.min(Math.ceil(ms), 0xffffffffffff))
    .toString(16)
    .padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Memory for the 16 bytes of one id. Every id that is created, read or written uses it again. */
const bytes = new Uint8Array(16);

let sequenceMs = -1;
let sequence = 0;

/**
 * Returns the next value of the counter in ids (RFC 9562 section 6.2, method 1). In each new millisecond it starts at a random value in the
 * lower half of 32 bits, so that it cannot overflow.
 */
function nextSequence(atMs: number): number {
  sequence = atMs === sequenceMs ? sequence + 1 : Buffer.from(randomBytes16()).readUInt32BE(0) >>> 1;
  sequenceMs = atMs;
  return sequence;
}

const pool = Buffer.allocUnsafe(8_192);
let poolOffset = pool.byteLength;

/**
 * Returns sixteen random bytes. Many are generated at a time, because a system call every few ids would slow down incoming webhooks
 * noticeably.
 */
function randomBytes16(): Uint8Array {
  if (poolOffset === pool.byteLength) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  poolOffset += 16;
  return pool.subarray(poolOffset - 16, poolOffset);
}
