import { type ConnectedAccount, ConnectionsService } from "@svc/gen/connections";
import { getRouteApi } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/copy.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import { ListStates } from "../../ui/list-states.tsx";
import { useIsPhone } from "../../ui/media.ts";
import { Page } from "../../ui/page.tsx";
import { Split } from "../../ui/split.tsx";
import { AccountFilters } from "./account-filters.tsx";
import { accountCard, accountColumns } from "./columns.tsx";
import { ConnectDialog } from "./connect-dialog.tsx";
import { CredentialDialog } from "./credential-dialog.tsx";
import { type AccountsSearch, accountsRequest, isFiltered, noDialog, noFilters } from "./filters.ts";

const route = getRouteApi("/p/$projectId/accounts");
const lookMs = 10_000;

/** The accounts of the project, newest first, and the way to connect one. */
export default function AccountsPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useRows(
    ConnectionsService.method.listConnections,
    accountsRequest(search),
    ({ accounts }: { accounts: readonly ConnectedAccount[] }) => accounts,
    { refetchMs: lookMs },
  );
  const change = (to: AccountsSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const open = (accountId: string) =>
    void navigate({ to: "/p/$projectId/accounts/$accountId", params: { projectId, accountId } });
  const close = () => {
    list.reload();
    change(noDialog);
  };
  const credential = (
    <Button key="credential" onPress={() => change({ dialog: "credential" })}>
      Project credential
    </Button>
  );
  const connect = (
    <Button key="connect" kind="primary" icon="plug" onPress={() => change({ dialog: "connect" })}>
      Connect an account
    </Button>
  );
  // Beside each other what goes on is last; below each other, on a phone, it is first.
  const actions = useIsPhone() ? [connect, credential] : [credential, connect];
  return (
    <Page
      title="Accounts"
      isCovered={search.dialog !== undefined}
      fill
      actions={actions}
      filters={<AccountFilters projectId={projectId} search={search} onChange={change} />}
    >
      <Split
        panel={null}
        list={
          <ListStates
            list={list}
            isFiltered={isFiltered(search)}
            empty={<NoAccounts />}
            noMatch={<NoMatch title="No account matches" onClear={() => change(noFilters)} />}
          >
            <Grid
              label="Accounts"
              columns={accountColumns(projectId)}
              card={accountCard}
              rows={list.rows}
              rowId={({ id }) => id}
              onOpen={({ id }) => open(id)}
              hasMore={list.hasMore}
              loadMore={list.loadMore}
              loadingMore={list.loadingMore}
            />
          </ListStates>
        }
      />
      {search.dialog === "connect" && (
        <ConnectDialog projectId={projectId} search={search} onChange={change} onClose={close} onOpen={open} />
      )}
      {search.dialog === "credential" && (
        <CredentialDialog projectId={projectId} search={search} onChange={change} onClose={close} />
      )}
    </Page>
  );
}

function NoAccounts() {
  return (
    <Empty icon="plug" title="No accounts yet">
      <p>
        An account holds the credential with which tools are called for one of your users, the entity. Connect one here,
        or from the command line:
      </p>
      <CodeBlock text="npx svc connect messaging_bot --entity ada" />
    </Empty>
  );
}
