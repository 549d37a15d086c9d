import type { Event } from "@svc/gen/triggers";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Section } from "../../ui/layout/section.tsx";

/** The payload of an event. */
export function EventPayload({ event }: { event: Event }) {
  return (
    <Section title="Payload">
      <JsonView text={event.payloadJson} label="payload" />
    </Section>
  );
}
