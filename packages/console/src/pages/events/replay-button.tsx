import { createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { useWrite } from "../../calls/write.ts";
import { announce } from "../../ui/announce.ts";
import { Button } from "../../ui/button.tsx";
import { FaultNotice } from "../../ui/fault.tsx";

/** Sends an event again to every active subscription that matches it now; what is queued appears among its deliveries. */
export function ReplayButton({ eventId }: { eventId: string }) {
  const queries = useQueryClient();
  const transport = useTransport();
  const { listDeliveries, replayEvent } = TriggersService.method;
  const replay = useWrite(replayEvent, {
    onSuccess: ({ deliveries }) => {
      announce(
        deliveries.length === 0
          ? "No active subscription matches this event."
          : `Queued ${countWords(deliveries.length)}.`,
      );
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
      <Button icon="replay" onPress={() => replay.send({ eventId })} busy={replay.isSending ? "Sending" : undefined}>
        Replay
      </Button>
      <FaultNotice error={replay.error} />
    </>
  );
}

function countWords(count: number): string {
  return count === 1 ? "one delivery" : `${count} deliveries`;
}
