import { useQuery } from "@connectrpc/connect-query";
import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { draftOf, updateRequest } from "../../pages/subscriptions/draft.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { EndpointForm } from "../endpoint-form.tsx";

/** Draws the page that changes an endpoint. */
export default function ChangeEndpointPage() {
  const { projectId = "", subscriptionId = "" } = useParams({ strict: false });
  // The endpoint is read once, so that the form does not change while the customer edits it.
  const once = { staleTime: Number.POSITIVE_INFINITY, refetchOnMount: "always" as const };
  const found = useQuery(TriggersService.method.getSubscription, { id: subscriptionId }, once);
  const subscription = found.data?.subscription;
  return (
    <Page
      title="Change endpoint"
      back={
        <Link to="/p/$projectId/subscriptions/$subscriptionId" params={{ projectId, subscriptionId }}>
          The endpoint
        </Link>
      }
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {subscription !== undefined && <ChangeForm projectId={projectId} subscription={subscription} />}
    </Page>
  );
}

function ChangeForm({ projectId, subscription }: { projectId: string; subscription: Subscription }) {
  const { id } = subscription;
  const navigate = useNavigate();
  const refresh = useRefresh(TriggersService);
  const update = useWrite(TriggersService.method.updateSubscription, {
    onSuccess: async () => {
      announce("The endpoint was changed.");
      await navigate({ to: "/p/$projectId/subscriptions/$subscriptionId", params: { projectId, subscriptionId: id } });
      await refresh();
    },
    isSecret: true,
  });
  const begun = draftOf(subscription);
  return (
    <EndpointForm
      begun={begun}
      subscription={subscription}
      error={update.error}
      onSend={(draft) => update.send(updateRequest(id, begun, draft))}
    >
      {(draft, why) => {
        const isSame = why === undefined && Object.keys(updateRequest(id, begun, draft)).length === 1;
        return (
          <Line>
            <Button
              kind="primary"
              type="submit"
              why={isSame ? "Nothing is changed yet." : why}
              busy={update.isSending ? "Sending" : undefined}
            >
              Save the changes
            </Button>
          </Line>
        );
      }}
    </EndpointForm>
  );
}
