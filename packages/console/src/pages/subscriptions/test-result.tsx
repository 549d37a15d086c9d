import { useQuery } from "@connectrpc/connect-query";
import { type Delivery, TriggersService } from "@svc/gen/triggers";
import { DeliveryItem } from "../deliveries/delivery-item.tsx";

const lookMs = 1_000;

/** Draws the delivery of a test event, and reads its state again until the delivery has succeeded or failed. */
export function TestResult({
  projectId,
  sent,
  endpointUrl,
}: {
  projectId: string;
  sent: Delivery;
  endpointUrl: string;
}) {
  const look = useQuery(
    TriggersService.method.getDelivery,
    { id: sent.id },
    { refetchInterval: ({ state }) => ((state.data?.delivery ?? sent).state === "pending" ? lookMs : false) },
  );
  return (
    <DeliveryItem key={sent.id} delivery={look.data?.delivery ?? sent} projectId={projectId} endpoint={endpointUrl} />
  );
}
