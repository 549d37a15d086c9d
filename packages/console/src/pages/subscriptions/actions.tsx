import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";

const route = getRouteApi("/p/$projectId/subscriptions/$subscriptionId");

/**
 * Draws the buttons of a subscription. Pausing, resuming and re-enabling happen at once. Deactivating and deleting first open a dialog,
 * because both end pending deliveries.
 */
export function SubscriptionActions({ projectId, subscription }: { projectId: string; subscription: Subscription }) {
  const { id, active, inactiveReason, agent, health, createdAt } = subscription;
  const [isDeleting, setDeleting] = useState(false);
  const queries = useQueryClient();
  const navigate = route.useNavigate();
  const update = useWrite(TriggersService.method.updateSubscription, {
    onSuccess: (_, { active: wanted, paused }) => {
      announce(
        paused === true ? "Paused." : paused === false ? "Resumed." : wanted === true ? "Turned on." : "Turned off.",
      );
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
  const isPaused = inactiveReason === "paused";
  return (
    <>
      {active && agent === undefined && (
        <Button icon="pause" busy={busy} onPress={() => update.send({ id, paused: true })}>
          Pause
        </Button>
      )}
      {isPaused && (
        <Button kind="primary" icon="play" busy={busy} onPress={() => update.send({ id, paused: false })}>
          Resume
        </Button>
      )}
      {!active && !isPaused && (
        <Button kind="primary" icon="play" busy={busy} onPress={() => void reenable()}>
          Turn on
        </Button>
      )}
      {agent === undefined && (
        <Link
          to="/p/$projectId/subscriptions/$subscriptionId/change"
          params={{ projectId, subscriptionId: id }}
          className={buttonClass()}
        >
          Change
        </Link>
      )}
      {(active || isPaused) && (
        <ConfirmButton
          words="Turn off"
          title="Turn this subscription off?"
          says={`${pendingWords(health?.pendingDeliveries ?? 0)} It misses all events until you turn it on again. You can resend them later. To lose nothing, pause it instead.`}
          confirm="Turn it off"
          busy="Sending"
          act={() => update.sendAsync({ id, active: false })}
        />
      )}
      <Button kind="danger" onPress={() => setDeleting(true)}>
        Delete
      </Button>
      <FaultNotice error={update.error} />
      {isDeleting && (
        <DeleteDialog projectId={projectId} subscription={subscription} onClose={() => setDeleting(false)} />
      )}
    </>
  );
}

function pendingWords(pending: number): string {
  return pending === 0 ? "" : `Its ${pending.toLocaleString("en")} waiting deliveries fail.`;
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
      keep="Cancel"
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
        svc sends nothing to {endpointUrl} any more
        {pending > 0 && `, and ${pending.toLocaleString("en")} pending deliveries end as dead_letter`}any more. Its
        secret is deleted. Events and past deliveries stay.
      </p>
    </WriteDialog>
  );
}
