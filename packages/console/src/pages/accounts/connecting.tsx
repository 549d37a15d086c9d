import { useQuery } from "@connectrpc/connect-query";
import { type ConnectedAccount, ConnectionsService } from "@svc/gen/connections";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { accountWord } from "../../words/accounts.ts";

const lookMs = 1_500;

/** Follows an account until it is active: where a person has to consent first, leads there in a tab of its own. */
export function Connecting({
  account: { id },
  authorizeUrl,
  onClose,
  onOpen,
}: {
  account: ConnectedAccount;
  authorizeUrl: string;
  onClose: () => void;
  onOpen: () => void;
}) {
  const looked = useQuery(
    ConnectionsService.method.getConnection,
    { id },
    {
      staleTime: 0,
      // The tab with the consent is in front: this one looks all the same.
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
            Open the account
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
      <p>The app asks for consent in a tab of its own. This page goes on when it was given.</p>
      <div>
        <a href={authorizeUrl} target="_blank" rel="noreferrer" className={buttonClass("primary")}>
          Open the app's consent
        </a>
      </div>
      <p>Or send the address to who is to consent. It is good once, for 10 minutes.</p>
      <CodeBlock text={authorizeUrl} what="address" />
    </>
  );
}
