import { isoTime } from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { invitations } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** An invitation of a person to a project, as stored: everything except its token. */
export type Invitation = typeof invitations.$inferSelect;

/** Stores a new invitation. */
export async function insertInvitation(db: Executor, invitation: Omit<Invitation, "spentAt">): Promise<void> {
  await db.orm.insert(invitations).values(invitation);
}

/** Returns the invitation whose token has this digest, even if it is used or expired; undefined if there is none. */
export async function findInvitation(db: Executor, digest: Buffer): Promise<Invitation | undefined> {
  const [invitation] = await db.orm.select().from(invitations).where(eq(invitations.digest, digest));
  return invitation;
}

/** Marks an invitation as used. Of several simultaneous calls, only one returns true. */
export async function spendInvitation(db: Executor, digest: Buffer, nowMs: number): Promise<boolean> {
  const spent = await db.orm
    .update(invitations)
    .set({ spentAt: nowMs })
    .where(and(eq(invitations.digest, digest), isNull(invitations.spentAt)))
    .returning({ digest: invitations.digest });
  return spent.length > 0;
}

/** Deletes expired invitations, oldest first, by the index invitations_expires. */
const sweep = statement<{ digest: Buffer }>(
  "sweep_invitations",
  `delete from invitations where digest in (
     select digest from invitations where expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked) returning digest`,
);

/** Deletes up to `limit` invitations that had expired before `beforeMs`; returns how many. */
export async function sweepInvitations(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweep(db, [isoTime(beforeMs), limit])).length;
}
