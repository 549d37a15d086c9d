import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { announce } from "../../ui/notice/announce.ts";

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
  const pending = health?.pendingDeliveries ?? 0;
  return (
    <WriteDialog
      method={TriggersService.method.deleteSubscription}
      title="Delete this subscription?"
      fields={{}}
      request={() => ({ id })}
      keep="Keep it"
      act="Delete it"
      kind="danger"
      onClose={onClose}
      done={async () => {
        announce("The subscription was deleted.");
        await navigate({ to: "/p/$projectId/subscriptions", params: { projectId } });
        await queries.invalidateQueries();
      }}
    >
      <p>
        Nothing is delivered to {endpointUrl} any more
        {pending > 0 && `, and ${pending.toLocaleString("en")} pending deliveries end as dead_letter`}. Its secret is
        gone with it. Events and past deliveries stay.
      </p>
    </WriteDialog>
  );
}
