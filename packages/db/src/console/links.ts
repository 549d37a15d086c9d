import { createId, digestSecret, generateToken, isoTime, type LinkId } from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { consoleLinks } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** A console link as stored: all of its data except its token, of which only a digest is stored. */
export type ConsoleLink = typeof consoleLinks.$inferSelect;

/** Stores a new console link: a link that admits a person without an API key, for example to answer a question. */
export async function insertConsoleLink(db: Executor, link: ConsoleLink): Promise<void> {
  await db.orm.insert(consoleLinks).values(link);
}

/**
 * Returns the link whose token has this digest, even if it is spent (already used) or expired; undefined if there is none. Uses the unique
 * index.
 */
export async function findConsoleLink(db: Executor, digest: Buffer): Promise<ConsoleLink | undefined> {
  const [link] = await db.orm.select().from(consoleLinks).where(eq(consoleLinks.digest, digest));
  return link;
}

/**
 * Marks a link as spent (used), even if it has expired. Of several concurrent calls, only one returns true; the others return false, and so
 * does a call for a spent link.
 */
export async function spendConsoleLink(db: Executor, { id }: Pick<ConsoleLink, "id">, nowMs: number): Promise<boolean> {
  const spent = await db.orm
    .update(consoleLinks)
    .set({ spentAt: nowMs })
    .where(and(eq(consoleLinks.id, id), isNull(consoleLinks.spentAt)))
    .returning({ id: consoleLinks.id });
  return spent.length > 0;
}

/** Makes a spent (used) link valid again, because svc refused the action for which it was used. */
export async function restoreConsoleLink(db: Executor, { id }: Pick<ConsoleLink, "id">): Promise<void> {
  await db.orm.update(consoleLinks).set({ spentAt: null }).where(eq(consoleLinks.id, id));
}

/** Replaces the target of a stored console link. The target says what the link opens, for example which account a person connects. */
export async function retargetConsoleLink(
  db: Executor,
  id: ConsoleLink["id"],
  target: ConsoleLink["target"],
): Promise<void> {
  await db.orm.update(consoleLinks).set({ target }).where(eq(consoleLinks.id, id));
}

/** Deletes expired console links, oldest first. Finds them by the index console_links_expires. */
const sweepLinks = statement<{ id: string }>(
  "sweep_console_links",
  `delete from console_links where id in (
     select id from console_links where expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked) returning id`,
);

/** Deletes up to `limit` links that had expired before `beforeMs`; returns how many. */
export async function sweepConsoleLinks(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepLinks(db, [isoTime(beforeMs), limit])).length;
}

/** Input of `makeConsoleLink`. Times are in epoch milliseconds. */
type NewConsoleLink = Pick<ConsoleLink, "purpose" | "target" | "projectId" | "keyId" | "expiresAt"> & {
  readonly nowMs: number;
};

/** Creates a link. Returns its id and its token, which is stored only as a digest. */
export async function makeConsoleLink(
  db: Executor,
  { nowMs, ...link }: NewConsoleLink,
): Promise<{ readonly id: LinkId; readonly token: string }> {
  const token = generateToken();
  const id = createId("lnk", nowMs);
  await insertConsoleLink(db, { ...link, id, digest: digestSecret(token), createdAt: nowMs, spentAt: null });
  return { id, token };
}
