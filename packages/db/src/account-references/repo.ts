import { type Executor, withTransaction } from "../connect.ts";
import { touchRouting } from "../projects/repo.ts";
import { accountReferences } from "../schema/triggers.ts";
import type { NewRow } from "../sql/codec.ts";

/** An app's own key for an account, and whose account it is. */
export type AccountReference = NewRow<typeof accountReferences>;

/**
 * Stores references and moves the routing version, in one transaction. One that another account holds is a unique
 * violation of `account_references_key`, and then none is stored.
 */
export function putAccountReferences(db: Executor, references: readonly AccountReference[]): Promise<void> {
  return withTransaction(db, async (tx) => {
    await tx.orm.insert(accountReferences).values([...references]);
    await touchRouting(tx);
  });
}
