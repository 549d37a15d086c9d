import { useQuery } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { Section } from "../../ui/layout/section.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { DeliveryItem } from "../deliveries/delivery-item.tsx";
import { useSubscriptions } from "../deliveries/endpoints.ts";
import { ReplayButton } from "./replay-button.tsx";

/** Interval in milliseconds at which the deliveries are read again while one of them is in progress. */
const lookMs = 2_000;

/** Draws the deliveries of an event with their states, and the button that sends it again. */
export function EventDeliveries({ eventId, projectId }: { eventId: string; projectId: string }) {
  const list = useQuery(
    TriggersService.method.listDeliveries,
    { eventId },
    {
      refetchInterval: ({ state }) =>
        state.data?.deliveries.some((delivery) => delivery.state === "pending") ? lookMs : false,
    },
  );
  const { endpointOf } = useSubscriptions();
  const deliveries = list.data?.deliveries ?? [];
  return (
    <Section title="Deliveries" actions={<ReplayButton eventId={eventId} />}>
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={2} />}
      {list.isSuccess && deliveries.length === 0 && <p>No subscription matched this event, so it was not delivered.</p>}
      {deliveries.length > 0 && (
        <ul>
          {deliveries.map((delivery) => (
            <li key={delivery.id}>
              <DeliveryItem delivery={delivery} projectId={projectId} endpoint={endpointOf(delivery.subscriptionId)} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
