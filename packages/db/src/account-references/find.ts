import type { Executor } from "../connect.ts";
import { accountReferences } from "../schema/triggers.ts";
import { fieldsOf, namesBut, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows } from "../sql/parts.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import type { AccountReference } from "./repo.ts";

const columns = selectList(accountReferences, namesBut(accountReferences), "r");

/** By primary key. */
const selectReferences = compose(
  "find_account_references",
  { wanted: rows(fieldsOf(accountReferences, "toolkitSlug", "reference")) },
  ({ wanted }) => query<RawRow<Row<typeof accountReferences>>>`
    select ${columns.text} from ${wanted.from("wanted")} join account_references r using (toolkit_slug, reference)`,
);

/** Those of the wanted references that are held. */
export async function findAccountReferences(
  db: Executor,
  wanted: readonly { toolkitSlug: string; reference: string }[],
): Promise<AccountReference[]> {
  return (await selectReferences(db, { wanted })).map(columns.read);
}
