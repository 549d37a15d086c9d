import { type CreateSubscriptionResponse, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { Choice } from "../../ui/fields/choice.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { TriggerChoice, useEventToolkits } from "../events/trigger-choice.tsx";
import { verifySnippet } from "./verify-snippet.ts";

const route = getRouteApi("/p/$projectId/subscriptions/new");

/** Draws the page that creates a subscription and shows its secret once. */
export default function NewSubscriptionPage() {
  const { projectId } = route.useParams();
  const queries = useQueryClient();
  const create = useWrite(TriggersService.method.createSubscription, {
    onSuccess: () => queries.invalidateQueries(),
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
        <CreateForm error={create.error} isBusy={create.isSending} onCreate={(request) => create.send(request)} />
      )}
    </Page>
  );
}

type Wanted = { endpointUrl: string; toolkitSlug: string; triggerSlug: string };

function CreateForm({
  error,
  isBusy,
  onCreate,
}: {
  error: unknown;
  isBusy: boolean;
  onCreate: (wanted: Wanted) => void;
}) {
  const [url, setUrl] = useState("");
  const [toolkit, setToolkit] = useState("");
  const [trigger, setTrigger] = useState<string>();
  const toolkits = useEventToolkits().map((slug) => ({ value: slug, words: slug }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onCreate({ endpointUrl: url.trim(), toolkitSlug: toolkit, triggerSlug: trigger ?? "" });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextField
          label="Endpoint"
          type="url"
          required
          mono
          placeholder="https://example.com/hooks/svc"
          value={url}
          onChange={setUrl}
          hint="Where events are posted to: https, or http on this machine."
        />
        <Line>
          <Choice
            label="Events of"
            value={toolkit}
            options={[{ value: "", words: "every toolkit" }, ...toolkits]}
            onChange={(slug) => {
              setToolkit(slug);
              setTrigger(undefined);
            }}
          />
          {toolkit !== "" && <TriggerChoice toolkit={toolkit} trigger={trigger} onChange={setTrigger} />}
        </Line>
        <FaultNotice error={error} />
        <Line>
          <Button kind="primary" type="submit" busy={isBusy ? "Sending" : undefined}>
            Subscribe
          </Button>
        </Line>
      </Stack>
    </form>
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
        <Notice tone="warn" title="It is shown once. Keep it where your endpoint reads it." />
        <CodeBlock text={signingSecret} what="secret" />
      </Section>
      <Section title="Verify what arrives">
        <p>Each delivery is signed in the form of Standard Webhooks. With its library:</p>
        <CodeBlock text={verifySnippet} what="snippet" />
      </Section>
      {subscription !== undefined && (
        <Line>
          <Link
            to="/p/$projectId/subscriptions/$subscriptionId"
            params={{ projectId, subscriptionId: subscription.id }}
            className={buttonClass("primary")}
          >
            Go on: send a test event
          </Link>
        </Line>
      )}
    </Stack>
  );
}
