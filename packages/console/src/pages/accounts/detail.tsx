import { createConnectQueryKey, useQuery } from "@connectrpc/connect-query";
import { CatalogService, ToolView } from "@svc/gen/catalog";
import { type ConnectedAccount, ConnectionsService } from "@svc/gen/connections";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { accountWord, schemeWords, scopeWord } from "../../words/accounts.ts";
import { AccountReferences } from "./account-references.tsx";
import { CredentialTest } from "./credential-state.tsx";
import { scopesOf } from "./scopes.ts";

const route = getRouteApi("/p/$projectId/accounts/$accountId");
/** States of an account that is in use, or that can still be used later. */
const living: readonly string[] = ["pending", "active", "expired"];

/** Draws one account: its state, its scopes, its references, and a button to reconnect it. */
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

/** Draws the properties of a connected account, except its scopes and its references (ids in webhook posts that identify the account). */
function AccountFacts({ projectId, account }: { projectId: string; account: ConnectedAccount }) {
  const { id, toolkitSlug, entityId, scheme, accountVariables, expiresAt, createdAt, updatedAt, sandbox } = account;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      "App",
      <Link key="toolkit" to="/p/$projectId/toolkits/$toolkitSlug" params={{ projectId, toolkitSlug }}>
        {toolkitSlug}
      </Link>,
    ],
    ["User", entityId === "" ? "none: it is the project's own" : entityId],
    ["By", schemeWords(scheme)],
    ["Expires", <Time key="expires" at={expiresAt} />],
    ["Used", sandbox ? "Sandbox only" : "Real app only"],
    ...Object.entries(accountVariables).map(([name, value]) => [name, value] as const),
    ["Connected", <Time key="created" at={createdAt} />],
    ["Changed", <Time key="updated" at={updatedAt} />],
    [
      "Calls",
      <Link key="calls" to="/p/$projectId/calls" params={{ projectId }} search={{ account: id }}>
        View its calls
      </Link>,
    ],
    ["Id", <Copyable key="id" text={id} what="id" />],
  ];
  return (
    <Section title="Account">
      <Facts facts={facts} />
    </Section>
  );
}

/** Draws the scopes of an account: the scopes that the tools of the account's app need, next to the scopes that the app granted. */
function AccountScopes({ projectId, account }: { projectId: string; account: ConnectedAccount }) {
  const { toolkitSlug, grantedScopes } = account;
  const list = useQuery(CatalogService.method.listTools, { toolkitSlug, projectId, view: ToolView.SUMMARY });
  const { needed, others } = scopesOf(grantedScopes, list.data?.tools ?? []);
  return (
    <Section title="Scopes">
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={3} />}
      {list.isSuccess && needed.length === 0 && <p>No tool of {toolkitSlug} needs a special permission.</p>}
      {list.isSuccess && needed.length > 0 && grantedScopes.length === 0 && (
        <p>The app did not list its permissions. A call shows if the account may use a tool.</p>
      )}
      {grantedScopes.length > 0 && (
        <Stack tight>
          {needed.map(({ scope, tools, isGranted }) => (
            <Line key={scope}>
              <State word={scopeWord(isGranted)} />
              <code>{scope}</code>
              <span>{tools === 1 ? "one tool needs it" : `${tools} tools need it`}</span>
            </Line>
          ))}
          {others.map((scope) => (
            <Line key={scope}>
              <State word={scopeWord(true)} />
              <code>{scope}</code>
              <span>no tool needs it</span>
            </Line>
          ))}
        </Stack>
      )}
    </Section>
  );
}

/**
 * Draws the button that deletes an account after a confirmation. If the account uses a credential of the project, the button calls
 * DeleteProjectCredential, which erases the credential.
 */
function DeleteButton({ account }: { account: ConnectedAccount }) {
  const [isAsked, setAsked] = useState(false);
  const queries = useQueryClient();
  const { deleteConnection, deleteProjectCredential } = ConnectionsService.method;
  const onSuccess = () => {
    setAsked(false);
    announce("The account is deleted.");
    return queries.invalidateQueries({
      queryKey: createConnectQueryKey({ schema: ConnectionsService, cardinality: undefined }),
    });
  };
  const ofEntity = useWrite(deleteConnection, { onSuccess });
  const ofProject = useWrite(deleteProjectCredential, { onSuccess });
  const isOwn = account.scheme === "client_credentials";
  const isSending = ofEntity.isSending || ofProject.isSending;
  const act = () => (isOwn ? ofProject.send({ toolkitSlug: account.toolkitSlug }) : ofEntity.send({ id: account.id }));
  return (
    <>
      <Button onPress={() => setAsked(true)}>Delete</Button>
      <Dialog
        open={isAsked}
        onClose={() => setAsked(false)}
        title={`Delete ${account.toolkitSlug} of ${account.entityId || "the project"}?`}
        actions={
          <>
            <Button onPress={() => setAsked(false)}>Cancel</Button>
            <Button kind="danger" onPress={act} busy={isSending ? "Deleting" : undefined}>
              Delete the account
            </Button>
          </>
        }
      >
        <p>Its credentials are erased. Calls and jobs that use the account then fail.</p>
        <FaultNotice error={ofEntity.error ?? ofProject.error} />
      </Dialog>
    </>
  );
}
