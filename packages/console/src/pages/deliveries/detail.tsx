import { useQuery } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Page } from "../../ui/layout/page.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { State } from "../../ui/values/state.tsx";
import { deliveryWord } from "../../words/deliveries.ts";
import { DeliveryBody } from "./delivery-body.tsx";

const route = getRouteApi("/p/$projectId/deliveries/$deliveryId");
const lookMs = 2_000;

/** Draws one delivery and its attempts. */
export default function DeliveryPage() {
  const { projectId, deliveryId } = route.useParams();
  const query = useQuery(
    TriggersService.method.getDelivery,
    { id: deliveryId },
    { refetchInterval: ({ state }) => (state.data?.delivery?.state === "pending" ? lookMs : false) },
  );
  const found = query.data?.delivery;
  return (
    <Page
      title="Delivery"
      tab={`Delivery ${deliveryId}`}
      state={found !== undefined && <State word={deliveryWord(found)} />}
      back={
        <Link to="/p/$projectId/deliveries" params={{ projectId }}>
          Deliveries
        </Link>
      }
    >
      <FaultNotice error={query.error} onRetry={() => void query.refetch()} />
      {query.isPending && <Skeleton />}
      {found !== undefined && <DeliveryBody projectId={projectId} delivery={found} />}
    </Page>
  );
}
