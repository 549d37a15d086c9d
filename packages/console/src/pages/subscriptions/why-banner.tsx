import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { type Delivery, type Subscription, type SubscriptionStats, TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import { usePreferences } from "../../shell/preferences.ts";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { healthSentence, healthWord, pauserOf } from "../../words/subscriptions.ts";
import { durationWords, withClockTimes } from "../../words/time.ts";
import { TryNow } from "../deliveries/delivery-item.tsx";

/** Interval between two reads of the latest failure. Each one scans many deliveries if the queue is long. */
const lookMs = 60_000;
const pendingMax = 10_000;

/**
 * Draws why an endpoint fails, what svc does about it, and buttons that solve the problem. For a healthy endpoint, draws one line that says
 * so.
 */
export function WhyBanner({
  projectId,
  subscription,
  stats,
}: {
  projectId: string;
  subscription: Subscription;
  stats: SubscriptionStats | undefined;
}) {
  const { id, health, inactiveReason, active } = subscription;
  const now = useNow();
  const { zone } = usePreferences();
  const isFailing = active && health?.failingSince !== undefined;
  const failed = useQuery(
    TriggersService.method.listDeliveries,
    { subscriptionId: id, states: ["retrying", "failed"], pageSize: 1 },
    { enabled: isFailing, refetchInterval: lookMs },
  );
  if (health === undefined) return null;
  const { tone, icon } = healthWord(health.state, inactiveReason);
  const sentence = healthSentence(health, inactiveReason, now, pauserOf(subscription));
  // As long as the cause that is read, so that nothing below moves when it comes.
  const unread = isFailing && failed.isPending ? "Your endpoint is failing" : sentence;
  // Without a failed delivery near the start of the queue, the sentence about the health names the latest error.
  const why = isFailing ? whyOf(failed.data?.deliveries[0]) : undefined;
  return (
    <Notice
      tone={isFailing ? "bad" : tone}
      icon={icon}
      title={why === undefined ? unread : withClockTimes(why, zone, now)}
      actions={
        active && (
          <Line>
            {health.pendingDeliveries > 0 && (
              <TryNow request={{ subscriptionId: id }} words={isFailing ? "Test now" : "Try now"} isMain={isFailing} />
            )}
            {stats !== undefined && <ResendFailed projectId={projectId} id={id} stats={stats} />}
          </Line>
        )
      }
    >
      {isFailing ? (
        <p>
          {waitingWords(health.pendingDeliveries)} svc sends one delivery at a time to test the endpoint
          {health.backoffUntil === undefined
            ? ""
            : `; the next test is in ${durationWords(Math.max(0, timestampMs(health.backoffUntil) - now))}`}
          . Nothing is lost: once a test succeeds, the rest follow.
        </p>
      ) : (
        health.pendingDeliveries > 0 && <p>{waitingWords(health.pendingDeliveries)}</p>
      )}
    </Notice>
  );
}

function whyOf(failed: Delivery | undefined): string | undefined {
  return failed?.failure?.title;
}

function waitingWords(count: number): string {
  if (count === 0) return "";
  if (count >= pendingMax) return "10,000 or more deliveries wait.";
  return count === 1 ? "1 delivery waits." : `${count.toLocaleString("en")} deliveries wait.`;
}

/** Draws the link to the dialog that resends what failed for good, with the number of events. Draws nothing if there are none. */
function ResendFailed({ projectId, id, stats }: { projectId: string; id: string; stats: SubscriptionStats }) {
  const { resendable, since } = stats;
  if (resendable === 0 || since === undefined) return null;
  return (
    <Link
      to="/p/$projectId/replays"
      params={{ projectId }}
      search={{ start: "yes", only: "failed", subscription: id, since: timestampDate(since).toISOString() }}
      className={buttonClass()}
    >
      Resend failed ({resendable.toLocaleString("en")})
    </Link>
  );
}
