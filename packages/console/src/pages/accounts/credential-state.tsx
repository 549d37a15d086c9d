import { createConnectQueryKey } from "@connectrpc/connect-query";
import { type ConnectedAccount, ConnectionsService, type TestConnectionResponse } from "@svc/gen/connections";
import { useQueryClient } from "@tanstack/react-query";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Time } from "../../ui/values/time.tsx";
import { credentialWords, testWords } from "../../words/accounts.ts";

/** Draws a text about an account's credential, such as "worked 3 min ago". The time is that of the app's last answer to the credential. */
export function CredentialState({ account }: { account: ConnectedAccount }) {
  const { credentialTry } = account;
  const isTried = credentialTry !== undefined && !account.sandbox;
  return (
    <span>
      {credentialWords(account)}
      {isTried && (
        <>
          {" "}
          <Time at={credentialTry.at} />
        </>
      )}
    </span>
  );
}

/** Draws the button that tests an account's credential with one read call to the app, and shows the app's answer. */
export function CredentialTest({ account }: { account: ConnectedAccount }) {
  const queries = useQueryClient();
  const test = useWrite(ConnectionsService.method.testConnection, {
    onSuccess: ({ outcome }) => {
      announce(testWords(outcome).title);
      return queries.invalidateQueries({
        queryKey: createConnectQueryKey({ schema: ConnectionsService, cardinality: undefined }),
      });
    },
  });
  const actions = (
    <Button
      onPress={() => test.send({ id: account.id })}
      busy={test.isSending ? "Testing" : undefined}
      why={account.state === "active" ? undefined : "Only an active account can be tested."}
    >
      Test the credential
    </Button>
  );
  return (
    <Section title="Credential" actions={actions}>
      <Stack>
        <p>
          <CredentialState account={account} />
        </p>
        <FaultNotice error={test.error} />
        {test.answer !== undefined && <TestResult result={test.answer} />}
      </Stack>
    </Section>
  );
}

function TestResult({ result }: { result: TestConnectionResponse }) {
  const { title, tone } = testWords(result.outcome);
  const { message, toolSlug, providerStatus, testedAt } = result;
  return (
    <Notice tone={tone} title={title}>
      <p>{message}</p>
      {toolSlug !== "" && (
        <p>
          <code>{toolSlug}</code>, {providerStatus === 0 ? "no answer" : `HTTP ${providerStatus}`},{" "}
          <Time at={testedAt} />
        </p>
      )}
    </Notice>
  );
}
