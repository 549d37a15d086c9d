import type { Delivery } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import { shortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { deliveryWhy, deliveryWord } from "../../words/deliveries.ts";

/** The columns of the list of deliveries; `endpointOf` where it is that of several subscriptions. */
export function deliveryColumns(
  projectId: string,
  endpointOf: ((subscriptionId: string) => string) | undefined,
): readonly Column<Delivery>[] {
  const to: Column<Delivery>[] =
    endpointOf === undefined
      ? []
      : [
          {
            id: "to",
            title: "To",
            width: "minmax(120px, 1fr)",
            cell: ({ subscriptionId }) => <span title={endpointOf(subscriptionId)}>{endpointOf(subscriptionId)}</span>,
          },
        ];
  return [
    { id: "created", title: "Queued", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: "state", title: "State", width: "120px", cell: ({ state }) => <State word={deliveryWord(state)} /> },
    ...to,
    { id: "attempts", title: "Attempts", width: "72px", cell: ({ attempts }) => attempts },
    {
      id: "why",
      title: "Last failure, next attempt",
      width: "minmax(160px, 2fr)",
      cell: (delivery) => <Why delivery={delivery} />,
    },
    { id: "id", title: "Id", width: "136px", cell: ({ id }) => <DeliveryLink projectId={projectId} id={id} /> },
  ];
}

/** A delivery on a phone. */
export function deliveryCard(delivery: Delivery) {
  return (
    <>
      <Line apart>
        <State word={deliveryWord(delivery.state)} />
        <Time at={delivery.createdAt} />
      </Line>
      <Why delivery={delivery} />
    </>
  );
}

/** Why a delivery is where it is, in words. */
function Why({ delivery }: { delivery: Delivery }) {
  return <span>{deliveryWhy(delivery, useNow())}</span>;
}

function DeliveryLink({ projectId, id }: { projectId: string; id: string }) {
  return (
    <Link to="/p/$projectId/deliveries/$deliveryId" params={{ projectId, deliveryId: id }} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  );
}
