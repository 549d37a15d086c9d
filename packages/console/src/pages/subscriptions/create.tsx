import { type CreateSubscriptionResponse, type SendTestEventResponse, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useWrite } from "../../calls/write.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { createRequest, newDraft, type SubscriptionDraft } from "./draft.ts";
import { SubscriptionEditor } from "./editor.tsx";
import { TestResult } from "./test-result.tsx";
import { VerifyCode } from "./verify-code.tsx";

const route = getRouteApi("/p/$projectId/subscriptions/new");

/** Draws the page that creates a subscription, sends it a test event, and shows its secret once. */
export default function NewSubscriptionPage() {
  const { projectId } = route.useParams();
  const queries = useQueryClient();
  const test = useWrite(TriggersService.method.sendTestEvent);
  const create = useWrite(TriggersService.method.createSubscription, {
    onSuccess: () => queries.invalidateQueries(),
    isSecret: true,
  });
  const createAndTest = async (draft: SubscriptionDraft) => {
    // If the call is refused, the state of `create` shows the error next to the buttons.
    const made = await create.sendAsync(createRequest(draft)).catch(() => undefined);
    if (made?.subscription !== undefined) test.send({ subscriptionId: made.subscription.id });
  };
  const busy = create.isSending ? "Sending" : undefined;
  return (
    <Page
      title={create.answer !== undefined ? "Subscribed" : "New subscription"}
      back={
        <Link to="/p/$projectId/subscriptions" params={{ projectId }}>
          Subscriptions
        </Link>
      }
    >
      {create.answer !== undefined ? (
        <Created projectId={projectId} answer={create.answer} test={test} />
      ) : (
        <SubscriptionEditor begun={newDraft} error={create.error} onSend={(draft) => void createAndTest(draft)}>
          {(draft, why) => (
            <Line>
              <Button kind="primary" icon="send" type="submit" why={why} busy={busy}>
                Create and send a test
              </Button>
              <Button why={why} busy={busy} onPress={() => create.send(createRequest(draft))}>
                Create only
              </Button>
            </Line>
          )}
        </SubscriptionEditor>
      )}
    </Page>
  );
}

/** Draws the new subscription: the result of its test, its secret, and code that verifies its deliveries. */
function Created({
  projectId,
  answer: { subscription, signingSecret, warnings },
  test,
}: {
  projectId: string;
  answer: CreateSubscriptionResponse;
  test: { isSending: boolean; error: unknown; answer: SendTestEventResponse | undefined };
}) {
  const sent = test.answer?.delivery;
  return (
    <Stack>
      {warnings.map((warning) => (
        <Notice key={warning} tone="warn" title={warning} />
      ))}
      {(test.isSending || sent !== undefined || test.error !== null) && (
        <Section title="Test">
          <FaultNotice error={test.error} />
          {sent === undefined ? (
            test.isSending && <p>The test is being sent.</p>
          ) : (
            <TestResult projectId={projectId} sent={sent} endpointUrl={subscription?.endpointUrl ?? ""} />
          )}
        </Section>
      )}
      <Section title="Signing secret">
        <Notice tone="warn" title="It is shown only once. Save it where your endpoint can read it." />
        <CodeBlock text={signingSecret} what="secret" />
      </Section>
      <VerifyCode />
      {subscription !== undefined && (
        <Line>
          <Link
            to="/p/$projectId/subscriptions/$subscriptionId"
            params={{ projectId, subscriptionId: subscription.id }}
            className={buttonClass("primary")}
          >
            Open the subscription
          </Link>
        </Line>
      )}
    </Stack>
  );
}
