import { type CreateSubscriptionResponse, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useWrite } from "../../calls/write.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { createRequest, newDraft } from "./draft.ts";
import { SubscriptionEditor } from "./editor.tsx";
import { verifySnippet } from "./verify-snippet.ts";

const route = getRouteApi("/p/$projectId/subscriptions/new");

/** Draws the page that creates a subscription and shows its secret once. */
export default function NewSubscriptionPage() {
  const { projectId } = route.useParams();
  const queries = useQueryClient();
  const create = useWrite(TriggersService.method.createSubscription, {
    onSuccess: () => queries.invalidateQueries(),
    isSecret: true,
  });
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
        <Created projectId={projectId} answer={create.answer} />
      ) : (
        <SubscriptionEditor begun={newDraft} error={create.error} onSend={(draft) => create.send(createRequest(draft))}>
          {(_, why) => (
            <Line>
              <Button kind="primary" type="submit" why={why} busy={create.isSending ? "Sending" : undefined}>
                Subscribe
              </Button>
            </Line>
          )}
        </SubscriptionEditor>
      )}
    </Page>
  );
}

function Created({
  projectId,
  answer: { subscription, signingSecret, warnings },
}: {
  projectId: string;
  answer: CreateSubscriptionResponse;
}) {
  return (
    <Stack>
      {warnings.map((warning) => (
        <Notice key={warning} tone="warn" title={warning} />
      ))}
      <Section title="Signing secret">
        <Notice tone="warn" title="It is shown only once. Save it where your endpoint can read it." />
        <CodeBlock text={signingSecret} what="secret" />
      </Section>
      <Section title="Verify the signature">
        <p>Each delivery is signed as Standard Webhooks describes. With its library:</p>
        <CodeBlock text={verifySnippet} what="snippet" />
      </Section>
      {subscription !== undefined && (
        <Line>
          <Link
            to="/p/$projectId/subscriptions/$subscriptionId"
            params={{ projectId, subscriptionId: subscription.id }}
            className={buttonClass("primary")}
          >
            Continue: send a test event
          </Link>
        </Line>
      )}
    </Stack>
  );
}
