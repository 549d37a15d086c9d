import { useQuery } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { SidePanel } from "../../ui/layout/split.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { useIsPhone } from "../../ui/media.ts";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { EventDeliveries } from "./event-deliveries.tsx";
import { EventFacts, EventPayload } from "./event-facts.tsx";

/** Draws the panel of one event next to the list. A phone has no room for a panel: there, a row links to the event's page. */
export default function EventPanel({ projectId, id, onClose }: { projectId: string; id: string; onClose: () => void }) {
  const event = useQuery(TriggersService.method.getEvent, { id });
  const found = event.data?.event;
  if (useIsPhone()) return null;
  return (
    <SidePanel
      title={found?.triggerSlug ?? id}
      onClose={onClose}
      link={
        <Link to="/p/$projectId/events/$eventId" params={{ projectId, eventId: id }} className={buttonClass("quiet")}>
          Open page
        </Link>
      }
    >
      <Stack>
        <FaultNotice error={event.error} onRetry={() => void event.refetch()} />
        {event.isPending && <Skeleton rows={4} />}
        {found !== undefined && (
          <>
            <EventFacts event={found} />
            <EventPayload event={found} />
            <EventDeliveries eventId={id} projectId={projectId} />
          </>
        )}
      </Stack>
    </SidePanel>
  );
}
