import { type GrantId, isoTime } from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { grants, grantTokens } from "../schema/index.ts";
import { fieldsOf, namesBut } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, selectList, values } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** An OAuth token of a grant (a person's permission for an agent), as stored: everything except the token's text. */
export type GrantToken = typeof grantTokens.$inferSelect;

/** A grant (a person's permission for an agent) as stored. Its scope is stored with the grant's key. */
export type Grant = typeof grants.$inferSelect;

/** An OAuth token, with the grant (a person's permission for an agent) to which it belongs. */
export type TokenOfGrant = Grant & Pick<GrantToken, "kind" | "expiresAt" | "spentAt">;

/** Stores OAuth tokens of grants (people's permissions for agents). */
export async function insertGrantTokens(db: Executor, tokens: readonly GrantToken[]): Promise<void> {
  await db.orm.insert(grantTokens).values([...tokens]);
}

const tokenColumns = selectList(grantTokens, ["kind", "expiresAt", "spentAt"], "t");
const grantColumns = selectList(grants, namesBut(grants), "g");

/**
 * Finds a token of a grant (the access that a person gave an MCP client), and then the grant. Uses the primary keys of the tables
 * grant_tokens and grants.
 */
const readToken = compose(
  "read_grant_token",
  { of: values(fieldsOf(grantTokens, "digest")) },
  ({ of }) => query<RawRow<TokenOfGrant>>`
    select ${grantColumns.text}, ${tokenColumns.text} from grant_tokens t
    cross join lateral (select * from grants one where one.id = t.grant_id offset 0) g
    where t.digest = ${of.digest}`,
);

/**
 * Returns the token with this digest and its grant (a person's permission for an agent); undefined if there is none. The token may be spent
 * (already used) or expired, and its grant may have ended.
 */
export async function findGrantToken(db: Executor, digest: Buffer): Promise<TokenOfGrant | undefined> {
  const [row] = await readToken(db, { of: { digest } });
  return row && grantColumns.read(tokenColumns.read(row));
}

/**
 * Marks a refresh token as spent (used). Of concurrent calls with the same token, only the first returns true. The other calls wait for the
 * end of the first call's transaction, and then return false.
 */
export async function spendGrantToken(db: Executor, digest: Buffer, nowMs: number): Promise<boolean> {
  const spent = await db.orm
    .update(grantTokens)
    .set({ spentAt: nowMs })
    .where(and(eq(grantTokens.digest, digest), isNull(grantTokens.spentAt)))
    .returning({ grantId: grantTokens.grantId });
  return spent.length > 0;
}

/** Deletes all OAuth tokens of a grant (a person's permission for an agent) that has ended. */
export async function deleteGrantTokens(db: Executor, grantId: GrantId): Promise<void> {
  await db.orm.delete(grantTokens).where(eq(grantTokens.grantId, grantId));
}

/** Deletes expired OAuth tokens of grants (people's permissions for agents), oldest first. Finds them by the index grant_tokens_expires. */
const sweepTokens = statement<{ digest: Buffer }>(
  "sweep_grant_tokens",
  `delete from grant_tokens where digest in (
     select digest from grant_tokens where expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked) returning digest`,
);

/** Deletes up to `limit` tokens that had expired before `beforeMs`; returns how many. */
export async function sweepGrantTokens(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepTokens(db, [isoTime(beforeMs), limit])).length;
}
