import { eq } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { vaultCheck } from "../schema/index.ts";

/** The value that was sealed when the deployment began; `sealed` when there is none yet, which is then kept for good. */
export async function ensureVaultCheck(db: Executor, sealed: Buffer): Promise<Buffer> {
  await db.orm.insert(vaultCheck).values({ id: 1, sealed }).onConflictDoNothing();
  const [row] = await db.orm.select().from(vaultCheck).where(eq(vaultCheck.id, 1));
  return row?.sealed ?? sealed;
}
