import type { GrantId } from "@svc/core";
import { eq } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { type ApiKey, createApiKey, revokeApiKey } from "../keys/repo.ts";
import { grants } from "../schema/index.ts";
import { deleteGrantTokens, type Grant } from "./tokens.ts";

/** Stores a grant with its key. */
export async function insertGrant(db: Executor, grant: Grant, key: ApiKey): Promise<void> {
  await createApiKey(db, key);
  await db.orm.insert(grants).values(grant);
}

/** Ends a grant now: its key is revoked and its tokens are forgotten. */
export async function endGrant(db: Executor, { id, keyId }: Pick<Grant, "id" | "keyId">, nowMs: number): Promise<void> {
  await revokeApiKey(db, keyId, nowMs);
  await deleteGrantTokens(db, id);
}

/** The grant with this id, whichever project's. */
export async function findGrant(db: Executor, id: GrantId): Promise<Grant | undefined> {
  const [grant] = await db.orm.select().from(grants).where(eq(grants.id, id));
  return grant;
}
