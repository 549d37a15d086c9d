import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { ChangeUrlDialog } from "./change-url.tsx";
import { DeleteDialog } from "./delete.tsx";

const route = getRouteApi("/p/$projectId/subscriptions/$subscriptionId");

/** What can be done with a subscription: pause and re-enable at once, change its address and delete it after a question. */
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
    // A refusal stands beside the buttons, by the mutation's own state: nothing was missed as long as it is not active again.
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
