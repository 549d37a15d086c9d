import { type GrantId, isoTime } from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { grantCodes } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** A code as it is stored: everything but its text. */
export type GrantCode = typeof grantCodes.$inferSelect;

/** Stores a code. */
export async function insertGrantCode(db: Executor, code: GrantCode): Promise<void> {
  await db.orm.insert(grantCodes).values(code);
}

/** The code with this digest, also when it is spent or its time is over. */
export async function findGrantCode(db: Executor, digest: Buffer): Promise<GrantCode | undefined> {
  const [code] = await db.orm.select().from(grantCodes).where(eq(grantCodes.digest, digest));
  return code;
}

/** Spends a code, whether its time is over or not: of any number that try, one is answered true, and the others wait for its transaction. */
export async function spendGrantCode(db: Executor, digest: Buffer, nowMs: number): Promise<boolean> {
  const spent = await db.orm
    .update(grantCodes)
    .set({ spentAt: nowMs })
    .where(and(eq(grantCodes.digest, digest), isNull(grantCodes.spentAt)))
    .returning({ digest: grantCodes.digest });
  return spent.length > 0;
}

/** Notes what a code was changed into. */
export async function noteGrantOfCode(db: Executor, digest: Buffer, grantId: GrantId): Promise<void> {
  await db.orm.update(grantCodes).set({ grantId }).where(eq(grantCodes.digest, digest));
}

/** From the old end of grant_codes_expires. */
const sweepCodes = statement<{ digest: Buffer }>(
  "sweep_grant_codes",
  `delete from grant_codes where digest in (
     select digest from grant_codes where expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked) returning digest`,
);

/** Removes up to `limit` codes whose time was over at `beforeMs`; returns how many. */
export async function sweepGrantCodes(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepCodes(db, [isoTime(beforeMs), limit])).length;
}
