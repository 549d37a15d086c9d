import { type Executor, withTransaction } from "../connect.ts";
import { touchRouting } from "../projects/repo.ts";
import { accountReferences } from "../schema/triggers.ts";
import { fieldsOf, type NewRow, namesBut, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";

/**
 * A routing entry: the key under which an app names an account in its events, the connected account, and the project and entity (customer
 * or user) that own the account.
 */
export type AccountReference = NewRow<typeof accountReferences>;

/**
 * Stores account references (keys under which apps name accounts in events) and increments the routing version, in one transaction. Each
 * node keeps a copy of the references in memory, and reads them again when the version has changed. If a reference belongs to a different
 * account, throws the unique violation of `account_references_key` and stores nothing.
 */
export function putAccountReferences(db: Executor, references: readonly AccountReference[]): Promise<void> {
  return withTransaction(db, async (tx) => {
    await tx.orm.insert(accountReferences).values([...references]);
    await touchRouting(tx);
  });
}

const columns = selectList(accountReferences, namesBut(accountReferences), "r");

/** Finds account references (ids in webhook posts that name a connected account) by the primary key. */
const selectReferences = compose(
  "find_account_references",
  { wanted: rows(fieldsOf(accountReferences, "toolkitSlug", "reference")) },
  ({ wanted }) => query<RawRow<Row<typeof accountReferences>>>`
    select ${columns.text} from ${wanted.from("wanted")} join account_references r using (toolkit_slug, reference)`,
);

/** Returns those of the requested account references (ids in webhook posts that name a connected account) that exist. */
export async function findAccountReferences(
  db: Executor,
  wanted: readonly { toolkitSlug: string; reference: string }[],
): Promise<AccountReference[]> {
  return (await selectReferences(db, { wanted })).map(columns.read);
}
