import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListConnectionsRequestSchema } from "@svc/gen/connections";
import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { accountStates } from "../../words/accounts.ts";

const search = listSearch(
  { toolkit: textParam, entity: textParam, state: oneOfParam(accountStates) },
  {
    /** What is open over the list: connecting an account, or the credential of the project itself. */
    dialog: oneOfParam(["connect", "credential"]),
    /** Slug of the toolkit that is connected. */
    connect: textParam,
    /** Entity that is connected. */
    for: textParam,
    /** Id of the account that is connected anew. */
    like: textParam,
  },
  ({ toolkit = "", entity = "", state = "" }): MessageInitShape<typeof ListConnectionsRequestSchema> => ({
    ...{ pageSize: 200, toolkitSlug: toolkit, entityId: entity, state },
  }),
);

/** Search parameters of the list of accounts, as they were read. */
export type AccountsSearch = ReturnType<typeof search.read>;

/** The search parameters of the list of accounts. A toolkit to connect opens the dialog. */
export const accountsSearch: typeof search = {
  ...search,
  read: (raw) => {
    const read = search.read(raw);
    const opens = read.dialog === undefined && (read.connect ?? read.like) !== undefined;
    return opens ? { ...read, dialog: "connect" } : read;
  },
};

/** What is open over the list, closed. */
export const noDialog: AccountsSearch = { dialog: undefined, connect: undefined, for: undefined, like: undefined };
