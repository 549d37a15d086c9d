import { useQuery } from "@connectrpc/connect-query";
import { type ConnectedAccount, ConnectionsService, type InitiateConnectionResponse } from "@svc/gen/connections";
import { useState } from "react";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { accountWord } from "../../words/accounts.ts";
import { useToolkits } from "../tools/catalog.ts";
import { ConnectForm } from "./connect-form.tsx";
import type { AccountsSearch } from "./filters.ts";

const lookMs = 1_500;

/**
 * Waits until a new account is active. If a person must give consent first, opens the app's consent page in a new tab. `openWords`: label of
 * the button that is shown when the account is active; `onOpen` is called when it is pressed.
 */
export function Connecting({
  account: { id },
  authorizeUrl,
  openWords = "Open the account",
  onClose,
  onOpen,
}: {
  account: ConnectedAccount;
  authorizeUrl: string;
  openWords?: string;
  onClose: () => void;
  onOpen: () => void;
}) {
  const looked = useQuery(
    ConnectionsService.method.getConnection,
    { id },
    {
      staleTime: 0,
      // The consent page is in another tab, which the user sees. This tab must continue to poll.
      refetchIntervalInBackground: true,
      refetchInterval: ({ state }) => ((state.data?.account?.state ?? "pending") === "pending" ? lookMs : false),
    },
  );
  const account = looked.data?.account;
  return (
    <Stack>
      <FaultNotice error={looked.error} />
      {account?.state === "active" && (
        <Notice tone="ok" title={`Connected: ${account.toolkitSlug} as ${account.entityId}`} />
      )}
      {account !== undefined && account.state !== "active" && account.state !== "pending" && (
        <Notice tone="bad" title={account.lastError || accountWord(account.state).says} />
      )}
      {account?.state === "pending" && authorizeUrl !== "" && <Consent authorizeUrl={authorizeUrl} />}
      <Line>
        {account?.state === "active" && (
          <Button kind="primary" onPress={onOpen}>
            {openWords}
          </Button>
        )}
        <Button onPress={onClose}>Close</Button>
      </Line>
    </Stack>
  );
}

function Consent({ authorizeUrl }: { authorizeUrl: string }) {
  return (
    <>
      <p>Agree in the app's tab. This page continues when you are done.</p>
      <div>
        <a href={authorizeUrl} target="_blank" rel="noreferrer" className={buttonClass("primary")}>
          Open the app
        </a>
      </div>
      <p>Or send this address to the account's owner. It works once, for 10 minutes.</p>
      <CodeBlock text={authorizeUrl} what="address" />
    </>
  );
}

/**
 * Draws the dialog that connects an account. The user first chooses a toolkit (an app with its tools). If an account is reconnected, the
 * toolkit and the fields are taken from that account.
 */
export function ConnectDialog({
  projectId,
  search,
  onChange,
  onClose,
  onOpen,
}: {
  projectId: string;
  search: AccountsSearch;
  onChange: (to: AccountsSearch) => void;
  onClose: () => void;
  onOpen: (accountId: string) => void;
}) {
  const [begun, setBegun] = useState<InitiateConnectionResponse>();
  const { like = "" } = search;
  const old = useQuery(ConnectionsService.method.getConnection, { id: like }, { enabled: like !== "" });
  const before = old.data?.account;
  const toolkitSlug = before?.toolkitSlug ?? search.connect ?? "";
  const title = like === "" ? "Connect an account" : "Reconnect an account";
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      hideOnInteractOutside={false}
      actions={begun === undefined && <Button onPress={onClose}>Close</Button>}
    >
      <Stack>
        <FaultNotice error={old.error} />
        {like !== "" && old.isPending && <Skeleton rows={2} />}
        {begun?.account !== undefined ? (
          <Connecting
            account={begun.account}
            authorizeUrl={begun.authorizeUrl}
            onClose={onClose}
            onOpen={() => onOpen(begun.account?.id ?? "")}
          />
        ) : (
          <>
            {like === "" && (
              <ToolkitField projectId={projectId} value={toolkitSlug} onChange={(connect) => onChange({ connect })} />
            )}
            {toolkitSlug !== "" && (
              <ConnectForm
                key={`${toolkitSlug} ${like}`}
                projectId={projectId}
                toolkitSlug={toolkitSlug}
                initial={initialOf(before, search)}
                onBegun={setBegun}
              />
            )}
          </>
        )}
      </Stack>
    </Dialog>
  );
}

function initialOf(before: ConnectedAccount | undefined, search: AccountsSearch) {
  return {
    entityId: before?.entityId ?? search.for ?? "",
    scheme: before?.scheme ?? "",
    accountVariables: before?.accountVariables ?? {},
  };
}

function ToolkitField({
  projectId,
  value,
  onChange,
}: {
  projectId: string;
  value: string;
  onChange: (slug: string | undefined) => void;
}) {
  const toolkits = useToolkits(projectId);
  const connectable = toolkits.filter((toolkit) => toolkit.connectable || toolkit.slug === value);
  return (
    <SelectField
      label="App"
      value={value}
      isRequired
      options={[
        { value: "", words: "choose" },
        ...connectable.map(({ slug, name }) => ({ value: slug, words: `${name} (${slug})` })),
      ]}
      onChange={(slug) => onChange(slug || undefined)}
    />
  );
}
