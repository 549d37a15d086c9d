import { useQuery } from "@connectrpc/connect-query";
import { type Delivery, TriggersService } from "@svc/gen/triggers";
import { getRouteApi } from "@tanstack/react-router";
import { DetailPage } from "../../frame/detail-page.tsx";
import { State } from "../../ui/values/state.tsx";
import { attemptErrorWords, deliveryWord } from "../../words/deliveries.ts";
import DeliveryBody from "./delivery-body.tsx";

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
    <DetailPage
      title="Delivery"
      tab={`Delivery ${deliveryId}`}
      state={found !== undefined && <State word={deliveryWord(found)} />}
      list={{ to: "/p/$projectId/deliveries", words: "Deliveries" }}
      query={query}
      strip={{ id: deliveryId, state: `${found?.state} ${found?.attempts}`, failure: found && failureWords(found) }}
    >
      {found !== undefined && <DeliveryBody projectId={projectId} delivery={found} />}
    </DetailPage>
  );
}

/** Returns the sentence about a failed attempt; undefined if the delivery has none, or succeeded. */
function failureWords(delivery: Delivery): string | undefined {
  const { state, lastError } = delivery;
  return state === "delivered" || lastError === "" ? undefined : attemptErrorWords(lastError);
}
