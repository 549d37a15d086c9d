import { type ConnectedAccount, ConnectionsService } from "@svc/gen/connections";
import { Link, useNavigate } from "@tanstack/react-router";
import type { ListPart } from "../../frame/list-filters.tsx";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { anyOf, anyOption } from "../../ui/fields/choice.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { AppNamed } from "../../ui/marks/tiles.tsx";
import { useIsPhone } from "../../ui/media.ts";
import { Empty } from "../../ui/notice/empty.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { accountStates, accountWord, schemeWords } from "../../words/accounts.ts";
import { useToolkits } from "../tools/catalog.ts";
import { ConnectDialog } from "./connect-dialog.tsx";
import { CredentialDialog } from "./credential-dialog.tsx";
import { CredentialState } from "./credential-state.tsx";
import { type AccountsSearch, accountsSearch, noDialog } from "./filters.ts";

const accounts = listPage({
  title: "Accounts",
  method: ConnectionsService.method.listConnections,
  rows: "accounts",
  params: accountsSearch,
  everyMs: 10_000,
  actions: AccountActions,
  filters: {
    entity: { typed: "User", short: true },
    toolkit: { choice: "App", options: useToolkitOptions },
    state: { choice: "State", options: anyOf(accountStates.map(accountWord)) },
  },
  columns: ({ projectId }) => [
    {
      id: "toolkit",
      title: "App",
      width: "minmax(112px, 1fr)",
      cell: ({ toolkitSlug }) => <AppNamed slug={toolkitSlug}>{toolkitSlug}</AppNamed>,
    },
    { id: "entity", title: "User", width: "minmax(96px, 1fr)", cell: (account) => <span>{whose(account)}</span> },
    { id: "state", title: "State", width: "120px", cell: ({ state }) => <State word={accountWord(state)} /> },
    { id: "scheme", title: "By", width: "minmax(144px, 1fr)", drop: 2, cell: ({ scheme }) => schemeWords(scheme) },
    {
      id: "credential",
      title: "Credential",
      width: "minmax(120px, 1fr)",
      cell: (account) => <CredentialState account={account} />,
    },
    { id: "expires", title: "Expires", width: "104px", drop: 3, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    {
      id: "error",
      title: "Last error",
      width: "minmax(96px, 2fr)",
      cell: ({ lastError }) => <span title={lastError}>{lastError}</span>,
    },
    "id",
    {
      id: "act",
      title: "Renew",
      width: "104px",
      cell: (account) => <ReconnectLink projectId={projectId} account={account} />,
    },
  ],
  card: (account) => (
    <>
      <Line apart>
        <b>{account.toolkitSlug}</b>
        <State word={accountWord(account.state)} />
      </Line>
      <Line apart>
        <span>{whose(account)}</span>
        <CredentialState account={account} />
        <Time at={account.createdAt} />
      </Line>
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }, projectId) => ({ to: "/p/$projectId/accounts/$accountId", params: { projectId, accountId: id } }),
  dialogs: AccountDialogs,
  isCovered: ({ dialog }) => dialog !== undefined,
  empty: NoAccounts,
  noMatch: "No account matches",
});

/** Draws the accounts of the project, newest first, and the button that connects one. */
export default function AccountsPage() {
  return <ListPage of={accounts} />;
}

function AccountActions({ change }: ListPart<ConnectedAccount, AccountsSearch>) {
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
  // If the buttons are in a row, the main action is last. On a phone they are in a column, and it is first.
  return useIsPhone() ? [connect, credential] : [credential, connect];
}

function AccountDialogs({ projectId, search, change, reload }: ListPart<ConnectedAccount, AccountsSearch>) {
  const navigate = useNavigate();
  const open = (accountId: string) =>
    void navigate({ to: "/p/$projectId/accounts/$accountId", params: { projectId, accountId } });
  const close = () => {
    reload();
    change(noDialog);
  };
  const dialog = { projectId, search, onChange: change, onClose: close };
  if (search.dialog === "connect") return <ConnectDialog {...dialog} onOpen={open} />;
  return search.dialog === "credential" && <CredentialDialog {...dialog} />;
}

function useToolkitOptions({ projectId }: ListPart<ConnectedAccount, AccountsSearch>) {
  return [anyOption, ...useToolkits(projectId).map(({ slug, name }) => ({ value: slug, words: slug, note: name }))];
}

/** Returns the owner of an account: its entity (customer or user), or the project itself if the account has no entity. */
function whose({ entityId, scheme }: ConnectedAccount): string {
  return scheme === "client_credentials" ? "the project" : entityId;
}

function NoAccounts() {
  return (
    <Empty icon="plug" title="No accounts yet">
      <p>An account lets svc call an app for one of your users. Connect one here, or from the command line:</p>
      <CodeBlock text="npx svc connect messaging_bot --entity ada" />
    </Empty>
  );
}

/**
 * Draws a link to the dialog that reconnects an account. Draws nothing if the account needs no reconnection, or if it is the project's own
 * credential.
 */
function ReconnectLink({ projectId, account }: { projectId: string; account: ConnectedAccount }) {
  if (account.state !== "expired" || account.scheme === "client_credentials") return null;
  return (
    <Link
      to="/p/$projectId/accounts"
      params={{ projectId }}
      search={{ like: account.id, dialog: "connect" }}
      className={buttonClass()}
    >
      Reconnect
    </Link>
  );
}
