import { TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { FaultNotice } from "../../ui/notice/fault.tsx";

/** A button that sends a waiting delivery, or all that wait for an endpoint, at once. */
export function TryNow({ request }: { request: { deliveryId: string } | { subscriptionId: string } }) {
  const queries = useQueryClient();
  const send = useWrite(TriggersService.method.tryNow, {
    onSuccess: ({ count }) => {
      announce(
        count === 0 ? "Nothing waits." : count === 1 ? "1 delivery is due now." : `${count} deliveries are due now.`,
      );
      return queries.invalidateQueries();
    },
  });
  return (
    <>
      <Button icon="play" busy={send.isSending ? "Sending" : undefined} onPress={() => send.send(request)}>
        Try now
      </Button>
      <FaultNotice error={send.error} />
    </>
  );
}
