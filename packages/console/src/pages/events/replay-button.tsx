import { createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";

/**
 * Draws a button that delivers an event again: to one subscription, or to all active subscriptions that match the event now. `onQueued`
 * receives the id of the first new delivery.
 */
export function ReplayButton({
  eventId,
  subscriptionId = "",
  words = "Resend",
  onQueued,
}: {
  eventId: string;
  subscriptionId?: string;
  /** Label of the button. Default: `Resend`. */
  words?: string;
  onQueued?: (deliveryId: string) => void;
}) {
  const queries = useQueryClient();
  const transport = useTransport();
  const { listDeliveries, replayEvent } = TriggersService.method;
  const replay = useWrite(replayEvent, {
    onSuccess: ({ deliveries, warnings }) => {
      const twice =
        warnings.length === 0 ? "" : " An earlier delivery is still waiting, so the endpoint receives the event twice.";
      announce(
        deliveries.length === 0
          ? subscriptionId === ""
            ? "No active subscription matches this event."
            : "The subscription is off, or does not match this event any more."
          : `Queued ${countWords(deliveries.length)}.${twice}`,
      );
      const first = deliveries[0]?.id;
      if (first !== undefined) onQueued?.(first);
      const queryKey = createConnectQueryKey({
        schema: listDeliveries,
        transport,
        input: { eventId },
        cardinality: "finite",
      });
      return queries.invalidateQueries({ queryKey });
    },
  });
  return (
    <>
      <Button
        icon="replay"
        onPress={() => replay.send({ eventId, subscriptionId })}
        busy={replay.isSending ? "Sending" : undefined}
      >
        {words}
      </Button>
      <FaultNotice error={replay.error} />
    </>
  );
}

function countWords(count: number): string {
  return count === 1 ? "one delivery" : `${count} deliveries`;
}
