import { TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useWrite } from "../../calls/write.ts";
import { createRequest, newDraft } from "../../pages/subscriptions/draft.ts";
import { VerifyCode } from "../../pages/subscriptions/verify-code.tsx";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { EndpointForm } from "../endpoint-form.tsx";

/** Draws the page that creates an endpoint and shows its signing secret once. */
export default function NewEndpointPage() {
  const { projectId = "" } = useParams({ strict: false });
  const queries = useQueryClient();
  const create = useWrite(TriggersService.method.createSubscription, {
    onSuccess: () => queries.invalidateQueries(),
    isSecret: true,
  });
  const { answer } = create;
  return (
    <Page
      title={answer === undefined ? "New endpoint" : "The endpoint is created"}
      back={
        <Link to="/p/$projectId/subscriptions" params={{ projectId }}>
          Endpoints
        </Link>
      }
    >
      {answer === undefined ? (
        <EndpointForm begun={newDraft} error={create.error} onSend={(draft) => create.send(createRequest(draft))}>
          {(_, why) => (
            <Line>
              <Button kind="primary" type="submit" why={why} busy={create.isSending ? "Sending" : undefined}>
                Create the endpoint
              </Button>
            </Line>
          )}
        </EndpointForm>
      ) : (
        <Stack>
          {answer.warnings.map((warning) => (
            <Notice key={warning} tone="warn" title={warning} />
          ))}
          <Section title="Signing secret">
            <Notice tone="warn" title="It is shown only once. Save it where your server can read it." />
            <CodeBlock text={answer.signingSecret} what="secret" />
          </Section>
          <VerifyCode isForCustomer />
          <Line>
            <Link
              to="/p/$projectId/subscriptions/$subscriptionId"
              params={{ projectId, subscriptionId: answer.subscription?.id ?? "" }}
              className={buttonClass("primary")}
            >
              Continue: send a test event
            </Link>
          </Line>
        </Stack>
      )}
    </Page>
  );
}
