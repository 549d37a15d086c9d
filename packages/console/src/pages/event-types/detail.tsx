import { useQuery } from "@connectrpc/connect-query";
import { type EventType, TriggersService } from "@svc/gen/triggers";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Choice } from "../../ui/fields/choice.tsx";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { eventTypeWord } from "../../words/event-types.ts";
import { DocumentDialog, EventTypeDialog, PublishDialog } from "./dialogs.tsx";

const route = getRouteApi("/p/$projectId/event-types/$name");

/** Draws one event type: its schema, its sample and its versions, and the buttons that change it and publish an event. */
export default function EventTypePage() {
  const { projectId, name } = route.useParams();
  const { version } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery(TriggersService.method.getEventType, { name, version: Number(version ?? 0) || 0 });
  const type = found.data?.eventType;
  const versions = found.data?.versions ?? [];
  return (
    <Page
      title={name}
      tab={`Event type ${name}`}
      state={type !== undefined && <State word={eventTypeWord(type)} />}
      actions={type !== undefined && version === undefined && <Actions projectId={projectId} type={type} />}
      back={
        <Link to="/p/$projectId/event-types" params={{ projectId }}>
          Event types
        </Link>
      }
      filters={
        <Choice
          label="Version"
          value={version ?? ""}
          options={[
            { value: "", words: versions[0] === undefined ? "newest" : `newest, ${versions[0].version}` },
            ...versions.slice(1).map((one) => ({ value: String(one.version), words: String(one.version) })),
          ]}
          onChange={(to) => void navigate({ search: { version: to || undefined }, replace: true })}
        />
      }
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {type !== undefined && (
        <Columns>
          <Stack>
            {type.description !== "" && <p>{type.description}</p>}
            <Section title="Schema">
              {type.schemaJson === "" ? (
                <p>None. The type accepts every JSON object.</p>
              ) : (
                <JsonView text={type.schemaJson} label="schema" />
              )}
            </Section>
            {type.sampleJson !== "" && version === undefined && (
              <Section title="Sample">
                <JsonView text={type.sampleJson} label="sample" />
              </Section>
            )}
          </Stack>
          <Section title="Event type">
            <EventTypeFacts projectId={projectId} type={type} />
          </Section>
        </Columns>
      )}
    </Page>
  );
}

function EventTypeFacts({ projectId, type }: { projectId: string; type: EventType }) {
  const trigger = `events.${type.name}`;
  return (
    <Facts
      facts={[
        ["Trigger", <code key="trigger">{trigger}</code>],
        ["Version", type.version],
        ["For customers", type.offered ? "offered" : "not offered"],
        ["Created", <Time key="created" at={type.createdAt} />],
        ["Changed", <Time key="changed" at={type.updatedAt} />],
        [
          "Events",
          <Link key="events" to="/p/$projectId/events" params={{ projectId }} search={{ toolkit: "events", trigger }}>
            events of this type
          </Link>,
        ],
      ]}
    />
  );
}

function Actions({ projectId, type }: { projectId: string; type: EventType }) {
  const [dialog, setDialog] = useState<"publish" | "change" | "document">();
  const why = useApproverWhy(projectId);
  const close = () => setDialog(undefined);
  return (
    <Line>
      <Button onPress={() => setDialog("document")}>Download document</Button>
      <ArchiveButton type={type} why={why} />
      <Button why={why} onPress={() => setDialog("change")}>
        Change
      </Button>
      <Button
        kind="primary"
        icon="send"
        why={type.archived ? "An archived type refuses new events" : undefined}
        onPress={() => setDialog("publish")}
      >
        Publish an event
      </Button>
      {dialog === "publish" && <PublishDialog projectId={projectId} type={type} onClose={close} />}
      {dialog === "change" && <EventTypeDialog type={type} onClose={close} />}
      {dialog === "document" && <DocumentDialog name={type.name} onClose={close} />}
    </Line>
  );
}

function ArchiveButton({ type, why }: { type: EventType; why: string | undefined }) {
  const refresh = useRefresh(TriggersService);
  const put = useWrite(TriggersService.method.putEventType, { onSuccess: refresh });
  const { name, archived, description, schemaJson, sampleJson, offered } = type;
  // An older service does not know the mask and replaces every field. So the request has the values of all of them.
  const kept = { description, schemaJson, sampleJson, offered };
  const request = { name, ...kept, archived: !archived, updateMask: ["archived"] };
  if (!archived) {
    return (
      <ConfirmButton
        words="Archive"
        title={`Archive ${name}?`}
        says="svc refuses new events of this type. Stored events can still be read, delivered and replayed. You can make it active again."
        confirm="Archive the event type"
        busy="Archiving"
        act={() => put.sendAsync(request)}
        why={why}
      />
    );
  }
  return (
    <>
      <Button why={why} busy={put.isSending ? "Sending" : undefined} onPress={() => put.send(request)}>
        Make active
      </Button>
      <FaultNotice error={put.error} />
    </>
  );
}
