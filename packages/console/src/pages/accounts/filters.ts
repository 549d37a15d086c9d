import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListConnectionsRequestSchema } from "@svc/gen/connections";
import { listSearch } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { accountStates } from "../../words/accounts.ts";

const search = listSearch(
  { toolkit: textParam, entity: textParam, state: oneOfParam(accountStates) },
  {
    /** The dialog that is open over the list. `connect`: connect an account. `credential`: set the project's own credential. */
    dialog: oneOfParam(["connect", "credential"]),
    /** Slug of the toolkit (svc's definition of one app) to connect. */
    connect: textParam,
    /** Id of the entity (customer or user) for which the dialog connects an account. */
    for: textParam,
    /** Id of the account to connect again. The dialog's form starts with the values of this account. */
    like: textParam,
  },
  ({ toolkit = "", entity = "", state = "" }): MessageInitShape<typeof ListConnectionsRequestSchema> => ({
    ...{ pageSize: 200, toolkitSlug: toolkit, entityId: entity, state },
  }),
);

/** Search parameters of the page with the list of accounts, converted from the page's address. */
export type AccountsSearch = ReturnType<typeof search.read>;

/**
 * Search parameters in the address of the accounts page. A toolkit in `connect` or an account in `like` opens the dialog for connecting an
 * account, unless `dialog` is set.
 */
export const accountsSearch: typeof search = {
  ...search,
  read: (raw) => {
    const read = search.read(raw);
    const opens = read.dialog === undefined && (read.connect ?? read.like) !== undefined;
    return opens ? { ...read, dialog: "connect" } : read;
  },
};

/** Search parameters for the address of the accounts page with which none of the page's dialogs is open. */
export const noDialog: AccountsSearch = { dialog: undefined, connect: undefined, for: undefined, like: undefined };
