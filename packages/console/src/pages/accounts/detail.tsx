import { useQuery } from "@connectrpc/connect-query";
import { type ConnectedAccount, ConnectionsService } from "@svc/gen/connections";
import { getRouteApi, Link } from "@tanstack/react-router";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { State } from "../../ui/values/state.tsx";
import { accountWord } from "../../words/accounts.ts";
import { AccountFacts } from "./account-facts.tsx";
import { AccountReferences } from "./account-references.tsx";
import { AccountScopes } from "./account-scopes.tsx";
import { CredentialTest } from "./credential-state.tsx";
import { DeleteButton } from "./delete-button.tsx";

const route = getRouteApi("/p/$projectId/accounts/$accountId");
/** The states in which an account is used, or will be. */
const living: readonly string[] = ["pending", "active", "expired"];

/** One account: how it stands, what it was granted, what it is known by, and the way to connect it anew. */
export default function AccountPage() {
  const { projectId, accountId } = route.useParams();
  const found = useQuery(ConnectionsService.method.getConnection, { id: accountId });
  const account = found.data?.account;
  return (
    <Page
      title={account === undefined ? "Account" : `${account.toolkitSlug} as ${account.entityId || "the project"}`}
      tab={`Account ${accountId}`}
      state={account !== undefined && <State word={accountWord(account.state)} />}
      actions={account !== undefined && <AccountActions projectId={projectId} account={account} />}
      back={
        <Link to="/p/$projectId/accounts" params={{ projectId }}>
          Accounts
        </Link>
      }
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {account !== undefined && <AccountBody projectId={projectId} account={account} />}
    </Page>
  );
}

function AccountActions({ projectId, account }: { projectId: string; account: ConnectedAccount }) {
  const isOwn = account.scheme === "client_credentials";
  return (
    <Line>
      {living.includes(account.state) && !isOwn && (
        <Link
          to="/p/$projectId/accounts"
          params={{ projectId }}
          search={{ like: account.id, dialog: "connect" }}
          className={buttonClass(account.state === "expired" ? "primary" : "plain")}
        >
          Reconnect
        </Link>
      )}
      {living.includes(account.state) && <DeleteButton account={account} />}
    </Line>
  );
}

function AccountBody({ projectId, account }: { projectId: string; account: ConnectedAccount }) {
  const { says, tone } = accountWord(account.state);
  return (
    <Stack>
      {account.state !== "active" && <Notice tone={tone} title={says} />}
      {account.lastError !== "" && <Notice tone="bad" title={account.lastError} />}
      <Columns even>
        <Stack>
          <AccountFacts projectId={projectId} account={account} />
          <CredentialTest account={account} />
          <AccountReferences projectId={projectId} account={account} />
        </Stack>
        <AccountScopes projectId={projectId} account={account} />
      </Columns>
    </Stack>
  );
}
