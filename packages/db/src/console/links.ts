import { createId, digestSecret, generateToken, isoTime, type LinkId } from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { consoleLinks } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** A link as it is stored: everything but its token. */
export type ConsoleLink = typeof consoleLinks.$inferSelect;

/** Stores a link. */
export async function insertConsoleLink(db: Executor, link: ConsoleLink): Promise<void> {
  await db.orm.insert(consoleLinks).values(link);
}

/** The link with this digest, also when it is spent or its time is over; served by the unique index. */
export async function findConsoleLink(db: Executor, digest: Buffer): Promise<ConsoleLink | undefined> {
  const [link] = await db.orm.select().from(consoleLinks).where(eq(consoleLinks.digest, digest));
  return link;
}

/** Spends a link, whether its time is over or not: of any number that try, one is answered true. */
export async function spendConsoleLink(db: Executor, { id }: Pick<ConsoleLink, "id">, nowMs: number): Promise<boolean> {
  const spent = await db.orm
    .update(consoleLinks)
    .set({ spentAt: nowMs })
    .where(and(eq(consoleLinks.id, id), isNull(consoleLinks.spentAt)))
    .returning({ id: consoleLinks.id });
  return spent.length > 0;
}

/** Makes a spent link good again: what it was spent for was refused. */
export async function restoreConsoleLink(db: Executor, { id }: Pick<ConsoleLink, "id">): Promise<void> {
  await db.orm.update(consoleLinks).set({ spentAt: null }).where(eq(consoleLinks.id, id));
}

/** Gives a link another target. */
export async function retargetConsoleLink(
  db: Executor,
  id: ConsoleLink["id"],
  target: ConsoleLink["target"],
): Promise<void> {
  await db.orm.update(consoleLinks).set({ target }).where(eq(consoleLinks.id, id));
}

/** From the old end of console_links_expires. */
const sweepLinks = statement<{ id: string }>(
  "sweep_console_links",
  `delete from console_links where id in (
     select id from console_links where expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked) returning id`,
);

/** Removes up to `limit` links whose time was over at `beforeMs`; returns how many. */
export async function sweepConsoleLinks(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepLinks(db, [isoTime(beforeMs), limit])).length;
}

/** What a link is made of; times are epoch milliseconds. */
type NewConsoleLink = Pick<ConsoleLink, "purpose" | "target" | "projectId" | "keyId" | "expiresAt"> & {
  readonly nowMs: number;
};

/** Makes a link. Its token is answered here and kept nowhere. */
export async function makeConsoleLink(
  db: Executor,
  { nowMs, ...link }: NewConsoleLink,
): Promise<{ readonly id: LinkId; readonly token: string }> {
  const token = generateToken();
  const id = createId("lnk", nowMs);
  await insertConsoleLink(db, { ...link, id, digest: digestSecret(token), createdAt: nowMs, spentAt: null });
  return { id, token };
}
