import { useQuery } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { getRouteApi } from "@tanstack/react-router";
import { DetailPage } from "../../frame/detail-page.tsx";
import { Columns } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { EventDeliveries } from "./event-deliveries.tsx";
import { EventFacts, EventPayload } from "./event-facts.tsx";

const route = getRouteApi("/p/$projectId/events/$eventId");

/** Draws one event: its payload, its deliveries, and the button that sends it again. */
export default function EventPage() {
  const { projectId, eventId } = route.useParams();
  const event = useQuery(TriggersService.method.getEvent, { id: eventId });
  const found = event.data?.event;
  return (
    <DetailPage
      title={found?.triggerSlug || "Event"}
      tab={`Event ${eventId}`}
      list={{ to: "/p/$projectId/events", words: "Events" }}
      query={event}
      strip={{ id: eventId, state: "", failure: undefined }}
    >
      {found !== undefined && (
        <Columns>
          <Stack>
            <EventPayload event={found} />
          </Stack>
          <Stack>
            <Section title="Event">
              <EventFacts event={found} />
            </Section>
            <EventDeliveries eventId={eventId} projectId={projectId} />
          </Stack>
        </Columns>
      )}
    </DetailPage>
  );
}
