import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListConnectionsRequestSchema } from "@svc/gen/connections";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";
import { accountStates } from "../../words/accounts.ts";

const params = {
  toolkit: textParam,
  entity: textParam,
  state: oneOfParam(accountStates),
  /** What is open over the list: connecting an account, or the credential of the project itself. */
  dialog: oneOfParam(["connect", "credential"]),
  /** Slug of the toolkit that is connected. */
  connect: textParam,
  /** Entity that is connected. */
  for: textParam,
  /** Id of the account that is connected anew. */
  like: textParam,
};

/** The search parameters of the list of accounts. */
export type AccountsSearch = SearchOf<typeof params>;

/** Reads the search parameters of the list of accounts. A toolkit to connect opens the dialog. */
export function readAccountsSearch(raw: Record<string, unknown>): AccountsSearch {
  const search = readParams(raw);
  const opens = search.dialog === undefined && (search.connect ?? search.like) !== undefined;
  return opens ? { ...search, dialog: "connect" } : search;
}

const readParams = searchReader(params);

/** What filters the list, all taken away. */
export const noFilters: AccountsSearch = { toolkit: undefined, entity: undefined, state: undefined };

/** What is open over the list, closed. */
export const noDialog: AccountsSearch = { dialog: undefined, connect: undefined, for: undefined, like: undefined };

/** What is asked of the service for these parameters. */
export function accountsRequest({
  toolkit,
  entity,
  state,
}: AccountsSearch): MessageInitShape<typeof ListConnectionsRequestSchema> {
  return { pageSize: 200, toolkitSlug: toolkit ?? "", entityId: entity ?? "", state: state ?? "" };
}

/** Whether anything is filtered, so that an empty list means no match rather than no account. */
export function isFiltered({ toolkit, entity, state }: AccountsSearch): boolean {
  return toolkit !== undefined || entity !== undefined || state !== undefined;
}
