import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { State } from "../../ui/values/state.tsx";
import { ranges } from "../../words/spans.ts";
import { healthWord, pauserOf, receivesWords } from "../../words/subscriptions.ts";
import { SubscriptionActions } from "./actions.tsx";
import { AttemptTable } from "./attempt-table.tsx";
import { Overview } from "./overview.tsx";
import { Settings } from "./settings.tsx";
import { SigningSecret } from "./signing-secret.tsx";
import { VerifyCode } from "./verify-code.tsx";
import { WhyBanner } from "./why-banner.tsx";

const route = getRouteApi("/p/$projectId/subscriptions/$subscriptionId");
const lookMs = 3_000;
const minuteMs = 60_000;

/** Draws the page of one subscription: why its endpoint fails and how to repair it, its figures, and its settings. */
export default function SubscriptionPage() {
  const { projectId, subscriptionId } = route.useParams();
  const { missedSince, tab = "overview", range = "24h" } = route.useSearch();
  const navigate = route.useNavigate();
  const statsSince = timestampFromMs(useNow(minuteMs) - ranges[range]);
  const query = useQuery(
    TriggersService.method.getSubscription,
    { id: subscriptionId, statsSince },
    {
      refetchInterval: lookMs,
      // The call changes once a minute, and with the range. Until its answer arrives, the figures before stay.
      placeholderData: (before) => (before?.subscription?.id === subscriptionId ? before : undefined),
    },
  );
  const { subscription: found, stats } = query.data ?? {};
  return (
    <Page
      title={found?.endpointUrl.replace(/^https?:\/\//, "") ?? "Subscription"}
      tab={`Subscription ${subscriptionId}`}
      state={
        found !== undefined && (
          <State word={healthWord(found.health?.state ?? "", found.inactiveReason, pauserOf(found))} />
        )
      }
      back={
        <Link to="/p/$projectId/subscriptions" params={{ projectId }}>
          Subscriptions
        </Link>
      }
      actions={found !== undefined && <SubscriptionActions projectId={projectId} subscription={found} />}
    >
      <FaultNotice error={query.error} onRetry={() => void query.refetch()} />
      {query.isPending && <Skeleton rows={8} />}
      {missedSince !== undefined && found?.active === true && (
        <Missed projectId={projectId} subscriptionId={subscriptionId} since={missedSince} />
      )}
      {found !== undefined && (
        <>
          <p>{[receivesWords(found), found.description].filter((part) => part !== "").join(" · ")}</p>
          <WhyBanner projectId={projectId} subscription={found} stats={stats} />
          <div>
            <Tabs
              label="Subscription"
              selected={tab}
              onSelect={(to) =>
                void navigate({ search: (old) => ({ ...old, tab: to === "overview" ? undefined : to }), replace: true })
              }
              tabs={[
                {
                  id: "overview",
                  words: "Overview",
                  panel: (
                    <Overview
                      projectId={projectId}
                      subscription={found}
                      stats={stats}
                      range={range}
                      onRange={(to) => void navigate({ search: (old) => ({ ...old, range: to }), replace: true })}
                    />
                  ),
                },
                {
                  id: "deliveries",
                  words: "Deliveries",
                  panel: <AllDeliveries projectId={projectId} id={subscriptionId} />,
                },
                {
                  id: "settings",
                  words: "Filters and address",
                  panel: <Settings projectId={projectId} subscription={found} />,
                },
                {
                  id: "secret",
                  words: "Secret and code",
                  panel: <SecretAndCode subscription={found} />,
                },
              ]}
            />
          </div>
        </>
      )}
    </Page>
  );
}

function AllDeliveries({ projectId, id }: { projectId: string; id: string }) {
  return (
    <Stack>
      <AttemptTable projectId={projectId} subscriptionId={id} count={50} />
      <p>
        <Link to="/p/$projectId/deliveries" params={{ projectId }} search={{ subscription: id }}>
          All deliveries, with filters
        </Link>
      </p>
    </Stack>
  );
}

function SecretAndCode({ subscription }: { subscription: Subscription }) {
  if (subscription.agent !== undefined) return <p>An agent made this subscription, and chose its secret.</p>;
  return (
    <Stack>
      <SigningSecret subscription={subscription} />
      <VerifyCode />
    </Stack>
  );
}

/** Draws a notice about events that were not delivered while the subscription was inactive. Only a replay delivers these events. */
function Missed({ projectId, subscriptionId, since }: { projectId: string; subscriptionId: string; since: string }) {
  return (
    <Notice
      tone="info"
      icon="replay"
      title="The subscription is on again. Events from the time in between were not delivered."
      actions={
        <Link
          to="/p/$projectId/replays"
          params={{ projectId }}
          search={{ start: "yes", subscription: subscriptionId, since, only: "undelivered" }}
          className={buttonClass("primary")}
        >
          Resend missed events
        </Link>
      }
    />
  );
}
