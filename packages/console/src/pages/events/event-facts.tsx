import type { Event } from "@svc/gen/triggers";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";

/** Draws the facts of an event, without its payload. */
export function EventFacts({ event: { id, toolkitSlug, entityId, occurredAt, receivedAt } }: { event: Event }) {
  return (
    <Facts
      facts={[
        ["Id", <Copyable key="id" text={id} what="id" />],
        ["App", toolkitSlug === "" ? "none: a test event" : toolkitSlug],
        ["User", entityId === "" ? "none: the payload names no connected account" : entityId],
        ["Received", <Time key="received" at={receivedAt} />],
        ["Occurred", <Time key="occurred" at={occurredAt} />],
      ]}
    />
  );
}

/** Draws the payload of an event. */
export function EventPayload({ event }: { event: Event }) {
  return (
    <Section title="Payload">
      <JsonView text={event.payloadJson} label="payload" />
    </Section>
  );
}
