import { useQuery } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { DocumentDialog } from "../../pages/event-types/dialogs.tsx";
import { VerifyCode } from "../../pages/subscriptions/verify-code.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { prettyJson } from "../../words/pretty-json.ts";

/** Draws one event type: its schema, a sample, and code that verifies a delivery. */
export default function EventTypePage() {
  const { projectId = "", name = "" } = useParams({ strict: false });
  const [isAsked, setAsked] = useState(false);
  const found = useQuery(TriggersService.method.getEventType, { name });
  const type = found.data?.eventType;
  return (
    <Page
      title={name}
      back={
        <Link to="/p/$projectId/event-types" params={{ projectId }}>
          Event types
        </Link>
      }
      actions={type !== undefined && <Button onPress={() => setAsked(true)}>Download document</Button>}
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {type !== undefined && (
        <>
          {type.description !== "" && <p>{type.description}</p>}
          <Section title="Schema">
            {type.schemaJson === "" ? (
              <p>None: an event has any JSON object.</p>
            ) : (
              <CodeBlock text={prettyJson(type.schemaJson)} what="schema" />
            )}
          </Section>
          {type.sampleJson !== "" && (
            <Section title="Sample">
              <CodeBlock text={prettyJson(type.sampleJson)} what="sample" />
            </Section>
          )}
          <VerifyCode isForCustomer />
        </>
      )}
      {isAsked && <DocumentDialog name={name} isForCustomer onClose={() => setAsked(false)} />}
    </Page>
  );
}
