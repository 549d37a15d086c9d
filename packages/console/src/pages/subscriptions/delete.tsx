import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useWrite } from "../../calls/write.ts";
import { announce } from "../../ui/announce.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FaultNotice } from "../../ui/fault.tsx";

/** Asks before a subscription is deleted, since there is no way back. */
export function DeleteDialog({
  projectId,
  subscription: { id, endpointUrl, health },
  onClose,
}: {
  projectId: string;
  subscription: Subscription;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = useWrite(TriggersService.method.deleteSubscription, {
    onSuccess: async () => {
      announce("The subscription was deleted.");
      await navigate({ to: "/p/$projectId/subscriptions", params: { projectId } });
      await queries.invalidateQueries();
    },
  });
  const pending = health?.pendingDeliveries ?? 0;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Delete this subscription?"
      actions={
        <>
          <Button onPress={onClose}>Keep it</Button>
          <Button kind="danger" busy={remove.isSending ? "Sending" : undefined} onPress={() => remove.send({ id })}>
            Delete it
          </Button>
        </>
      }
    >
      <p>
        Nothing is delivered to {endpointUrl} any more
        {pending > 0 && `, and ${pending.toLocaleString("en")} pending deliveries end as dead_letter`}. Its secret is
        gone with it. Events and past deliveries stay.
      </p>
      <FaultNotice error={remove.error} />
    </Dialog>
  );
}
