import { useQuery } from "@connectrpc/connect-query";
import {
  type PreviewedRequest,
  type PreviewSubscriptionResponse,
  type Subscription,
  TriggersService,
} from "@svc/gen/triggers";
import { keepPreviousData } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { placeFailure } from "../../calls/fault.ts";
import { useSettled } from "../../clock.ts";
import { FormFrame } from "../../ui/fields/form-frame.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Columns } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock, shortId } from "../../ui/values/copy.tsx";
import { Time } from "../../ui/values/time.tsx";
import { filterFaultWords, previewWords } from "../../words/subscriptions.ts";
import { faultsOf, previewRequest, type SubscriptionDraft } from "./draft.ts";
import type { SubscriptionForm } from "./shared-fields.tsx";

/** Time after the last key press before the preview is read, in milliseconds. */
const restMs = 500;

/** Request fields whose errors the form shows next to their input. Errors of all other fields are shown in a notice of the form. */
const placed = [
  ...["description", "entityId", "match.triggerSlugs", "match.filter", "format.kind", "format.bodyJson"],
  ...["retry.schedule", "retry.giveUpAfter", "retry.timeoutMs", "pace.max", "pace.per", "pace.concurrency"],
  ...["credentials.headers", "credentials.basic", "credentials.bearer", "credentials.oauth2"],
];

/** Properties of a form that edits a draft: the settings of a subscription that the user has not sent yet. */
export type EditedDraft = {
  /** The draft with which the form starts. Later changes of this property have no effect. */
  begun: SubscriptionDraft;
  /** The subscription that the form changes. Undefined for a new one. */
  subscription?: Subscription;
  /** Error of the last call that sent a draft. */
  error: unknown;
  onSend: (draft: SubscriptionDraft) => void;
  /** The buttons of the form. `why`: the reason why the draft cannot be sent yet. */
  children: (draft: SubscriptionDraft, why: string | undefined) => ReactNode;
};

/** Draws the form of a subscription, and next to it what the subscription would have received of the past events. */
export function DraftEditor({
  begun,
  subscription,
  error,
  onSend,
  fields,
  eventLink = () => null,
  children,
}: EditedDraft & {
  /** Draws the fields of the form. */
  fields: (form: SubscriptionForm) => ReactNode;
  /** Draws a link to the page of an event in the preview. If absent, the preview shows its events without links. */
  eventLink?: (eventId: string) => ReactNode;
}) {
  const [draft, setDraft] = useState(begun);
  const preview = usePreview(draft, subscription?.id ?? "");
  const own = faultsOf(draft, subscription);
  const [found, refused] = [placeFailure(preview.error, placed), placeFailure(error, placed)];
  const at = {
    ...{ ...found.at, ...refused.at },
    ...(own.types !== undefined && { types: own.types }),
    ...(own.waits !== undefined && { "retry.schedule": own.waits }),
    ...(own.giveUpAfter !== undefined && { "retry.giveUpAfter": own.giveUpAfter }),
    ...(own.timeout !== undefined && { "retry.timeoutMs": own.timeout }),
    ...(own.paceMax !== undefined && { "pace.max": own.paceMax }),
    ...(own.concurrency !== undefined && { "pace.concurrency": own.concurrency }),
  };
  const why = Object.keys(own).length > 0 ? "See the marked field." : undefined;
  return (
    <Columns follows>
      <FormFrame onSubmit={() => why === undefined && onSend(draft)}>
        {fields({ draft, at, change: (to) => setDraft((old) => ({ ...old, ...to })) })}
        <FaultNotice error={refused.rest} />
        {children(draft, why)}
      </FormFrame>
      <Section title="Preview">
        <FaultNotice error={found.rest} onRetry={() => void preview.refetch()} />
        {preview.isPending && <Skeleton rows={4} />}
        {preview.error !== null && found.rest === null && <p>See the marked field: it cannot be previewed yet.</p>}
        {preview.error === null && preview.data !== undefined && (
          <Preview preview={preview.data} eventLink={eventLink} />
        )}
      </Section>
    </Columns>
  );
}

/** Reads the preview of a draft when the user stops typing. `id`: the subscription that the draft changes; empty for a new one. */
function usePreview(draft: SubscriptionDraft, id: string) {
  const settled = useSettled(JSON.stringify(previewRequest(id, draft)), restMs);
  const request: ReturnType<typeof previewRequest> = JSON.parse(settled);
  return useQuery(TriggersService.method.previewSubscription, request, { placeholderData: keepPreviousData });
}

type EventLinks = { eventLink: (eventId: string) => ReactNode };

function Preview({ preview, eventLink }: EventLinks & { preview: PreviewSubscriptionResponse }) {
  const { scanned, faulty, fault, faultEventId, since, requests, samples } = preview;
  return (
    <Stack>
      <p role="status">
        {previewWords(preview)}
        {scanned > 0 && (
          <>
            {" "}
            The earliest arrived <Time at={since} />.
          </>
        )}
      </p>
      {faulty > 0 && (
        <Notice tone="warn" title={filterFaultWords(faulty, false)}>
          <p>
            The newest of them: {fault}. {eventLink(faultEventId)}
          </p>
        </Notice>
      )}
      {samples.length > 0 && <p>A sample event would be sent like this:</p>}
      {samples.map((request, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a made-up event has no id
        <PreviewedItem key={index} request={request} eventLink={() => null} />
      ))}
      {requests.length > 0 && <p>These requests would be sent, the newest event first:</p>}
      {requests.map((request) => (
        <PreviewedItem key={request.eventId} request={request} eventLink={eventLink} />
      ))}
    </Stack>
  );
}

function PreviewedItem({
  request: { eventId, headers, body, error },
  eventLink,
}: EventLinks & { request: PreviewedRequest }) {
  return (
    <Disclosure
      summary={
        <>
          <span>Request for</span> {eventId === "" ? <span>a sample</span> : <code>{shortId(eventId)}</code>}
        </>
      }
    >
      <Stack>
        {error === "" ? (
          <>
            <CodeBlock text={headers.map(({ name, value }) => `${name}: ${value}`).join("\n")} what="headers" />
            <CodeBlock text={body} what="body" />
          </>
        ) : (
          <Notice tone="bad" title={error} />
        )}
        {eventLink(eventId)}
      </Stack>
    </Disclosure>
  );
}
