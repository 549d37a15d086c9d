import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";

const route = getRouteApi("/p/$projectId/subscriptions/$subscriptionId");

/** Draws the buttons of a subscription. Pausing and re-enabling happen at once. Changing the address and deleting first open a dialog. */
export function SubscriptionActions({ projectId, subscription }: { projectId: string; subscription: Subscription }) {
  const { id, active, health, createdAt } = subscription;
  const [shown, setShown] = useState<"url" | "delete">();
  const queries = useQueryClient();
  const navigate = route.useNavigate();
  const update = useWrite(TriggersService.method.updateSubscription, {
    onSuccess: (_, { active: wanted }) => {
      announce(wanted === true ? "Re-enabled." : "Paused.");
      return queries.invalidateQueries();
    },
  });
  const reenable = async () => {
    const since = health?.lastSuccessAt ?? health?.failingSince ?? createdAt;
    // If the call is refused, the state of `update` shows the error next to the buttons. The page offers to replay missed events only if
    // the subscription is active again.
    const isActive = await update.sendAsync({ id, active: true }).then(
      () => true,
      () => false,
    );
    if (isActive && since !== undefined) {
      await navigate({ search: { missedSince: timestampDate(since).toISOString() }, replace: true });
    }
  };
  const busy = update.isSending ? "Sending" : undefined;
  return (
    <>
      {active ? (
        <Button icon="pause" busy={busy} onPress={() => update.send({ id, active: false })}>
          Pause
        </Button>
      ) : (
        <Button kind="primary" icon="play" busy={busy} onPress={() => void reenable()}>
          Re-enable
        </Button>
      )}
      {subscription.agent === undefined && <Button onPress={() => setShown("url")}>Change address</Button>}
      <Button kind="danger" onPress={() => setShown("delete")}>
        Delete
      </Button>
      <FaultNotice error={update.error} />
      {shown === "url" && <ChangeUrlDialog subscription={subscription} onClose={() => setShown(undefined)} />}
      {shown === "delete" && (
        <DeleteDialog projectId={projectId} subscription={subscription} onClose={() => setShown(undefined)} />
      )}
    </>
  );
}

/** Draws a dialog that changes the address to which svc posts a subscription's events. */
function ChangeUrlDialog({
  subscription: { id, endpointUrl },
  onClose,
}: {
  subscription: Subscription;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  return (
    <WriteDialog
      method={TriggersService.method.updateSubscription}
      title="Change address"
      fields={{
        url: {
          text: "Endpoint",
          type: "url",
          mono: true,
          hint: "What is pending and every later event goes there. The signing secret stays.",
        },
      }}
      start={{ url: endpointUrl }}
      request={({ url }) => ({ id, endpointUrl: url.trim() })}
      keep="Leave as it is"
      act="Change address"
      onClose={onClose}
      done={async () => {
        announce("The address was changed.");
        onClose();
        await queries.invalidateQueries();
      }}
    />
  );
}

/** Draws a dialog that asks for confirmation before a subscription is deleted, because a deletion cannot be undone. */
function DeleteDialog({
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
