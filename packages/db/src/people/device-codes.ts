import { isoTime, type KeyId } from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { deviceCodes } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** A sign-in that a program without a browser began and that a person must approve (RFC 8628), as stored: without its two codes. */
export type DeviceCode = typeof deviceCodes.$inferSelect;

/** Stores the sign-in of a program (RFC 8628) that has just begun and waits for a person. */
export async function insertDeviceCode(
  db: Executor,
  code: Omit<DeviceCode, "voucherKeyId" | "spentAt">,
): Promise<void> {
  await db.orm.insert(deviceCodes).values(code);
}

/**
 * Returns the sign-in of a program (RFC 8628) by the digest of the code that the program has, even if it is expired or used; undefined if
 * there is none.
 */
export async function findDeviceCode(db: Executor, digest: Buffer): Promise<DeviceCode | undefined> {
  const [code] = await db.orm.select().from(deviceCodes).where(eq(deviceCodes.digest, digest));
  return code;
}

/**
 * Returns the sign-in of a program (RFC 8628) by the digest of the code that the person types, even if it is expired or used; undefined if
 * there is none.
 */
export async function findDeviceCodeOfPerson(db: Executor, userDigest: Buffer): Promise<DeviceCode | undefined> {
  const [code] = await db.orm.select().from(deviceCodes).where(eq(deviceCodes.userDigest, userDigest));
  return code;
}

/**
 * Stores a person's decision about the sign-in of a program. `voucherKeyId`: key of the person who approves; null if the person denies.
 * Returns false if a decision was made before.
 */
export async function decideDeviceCode(
  db: Executor,
  digest: Buffer,
  voucherKeyId: KeyId | null,
  nowMs: number,
): Promise<boolean> {
  const decided = await db.orm
    .update(deviceCodes)
    .set(voucherKeyId === null ? { spentAt: nowMs } : { voucherKeyId })
    .where(and(eq(deviceCodes.digest, digest), isNull(deviceCodes.voucherKeyId), isNull(deviceCodes.spentAt)))
    .returning({ digest: deviceCodes.digest });
  return decided.length > 0;
}

/** Marks the sign-in of a program (RFC 8628) as used. Of several simultaneous calls with the same code, only one returns true. */
export async function spendDeviceCode(db: Executor, digest: Buffer, nowMs: number): Promise<boolean> {
  const spent = await db.orm
    .update(deviceCodes)
    .set({ spentAt: nowMs })
    .where(and(eq(deviceCodes.digest, digest), isNull(deviceCodes.spentAt)))
    .returning({ digest: deviceCodes.digest });
  return spent.length > 0;
}

/** Deletes expired sign-ins of programs, oldest first, by the index device_codes_expires. */
const sweep = statement<{ digest: Buffer }>(
  "sweep_device_codes",
  `delete from device_codes where digest in (
     select digest from device_codes where expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked) returning digest`,
);

/** Deletes up to `limit` sign-ins of programs that had expired before `beforeMs`; returns how many. */
export async function sweepDeviceCodes(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweep(db, [isoTime(beforeMs), limit])).length;
}
