import type { ConnectedAccount } from "@svc/gen/connections";
import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { accountWord, schemeWords } from "../../words/accounts.ts";
import { CredentialState } from "./credential-state.tsx";
import { ReconnectLink } from "./reconnect-link.tsx";

/** The columns of the list of accounts. */
export function accountColumns(projectId: string): readonly Column<ConnectedAccount>[] {
  return [
    {
      id: "toolkit",
      title: "Toolkit",
      width: "minmax(112px, 1fr)",
      cell: ({ toolkitSlug }) => <span>{toolkitSlug}</span>,
    },
    { id: "entity", title: "Entity", width: "minmax(96px, 1fr)", cell: (account) => <span>{whose(account)}</span> },
    { id: "state", title: "State", width: "120px", cell: ({ state }) => <State word={accountWord(state)} /> },
    { id: "scheme", title: "By", width: "minmax(144px, 1fr)", cell: ({ scheme }) => schemeWords(scheme) },
    {
      id: "credential",
      title: "Credential",
      width: "minmax(120px, 1fr)",
      cell: (account) => <CredentialState account={account} />,
    },
    { id: "expires", title: "Runs out", width: "104px", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    {
      id: "error",
      title: "Last error",
      width: "minmax(96px, 2fr)",
      cell: ({ lastError }) => <span title={lastError}>{lastError}</span>,
    },
    { id: "id", title: "Id", width: "136px", cell: ({ id }) => <AccountLink projectId={projectId} id={id} /> },
    {
      id: "act",
      title: "Renew",
      width: "104px",
      cell: (account) => <ReconnectLink projectId={projectId} account={account} />,
    },
  ];
}

/** An account on a phone. */
export function accountCard(account: ConnectedAccount) {
  return (
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
  );
}

/** Whose account it is: the project itself has no entity. */
function whose({ entityId, scheme }: ConnectedAccount): string {
  return scheme === "client_credentials" ? "the project" : entityId;
}

function AccountLink({ projectId, id }: { projectId: string; id: string }) {
  return (
    <Link to="/p/$projectId/accounts/$accountId" params={{ projectId, accountId: id }} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  );
}
