import { useQuery } from "@connectrpc/connect-query";
import { type Subscription, type SubscriptionStats, TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { Choice } from "../../ui/fields/choice.tsx";
import { AttemptBars } from "../../ui/flow/attempt-bars.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { Time } from "../../ui/values/time.tsx";
import { attemptWord } from "../../words/deliveries.ts";
import { rangeNames, rangeWords } from "../../words/spans.ts";
import { durationWords } from "../../words/time.ts";
import { Exchange } from "../deliveries/exchange.tsx";
import { CopyCurl } from "../deliveries/sent-attempts.tsx";
import { AttemptTable } from "./attempt-table.tsx";
import styles from "./overview.module.css";
import { FilterFaults } from "./settings.tsx";
import { TestDelivery } from "./test-delivery.tsx";

type Range = (typeof rangeNames)[number];

/**
 * Draws the overview of a subscription: its figures, its last deliveries, its last failure, and a button that sends a test event. `stats`:
 * undefined until they are read.
 */
export function Overview({
  projectId,
  subscription,
  stats,
  range,
  onRange,
}: {
  projectId: string;
  subscription: Subscription;
  stats: SubscriptionStats | undefined;
  range: Range;
  onRange: (range: Range) => void;
}) {
  const { id, agent, health } = subscription;
  if (stats === undefined) return <Skeleton rows={8} />;
  return (
    <Stack>
      <Tiles stats={stats} range={range} waiting={health?.pendingDeliveries ?? 0} />
      <div className={styles["columns"]}>
        <Stack>
          <Section
            title="Attempts"
            boxed
            actions={
              <Choice
                label="Time"
                value={range}
                options={rangeNames.map((name) => ({ value: name, words: rangeWords(name) }))}
                onChange={(to) => onRange(rangeNames.find((name) => name === to) ?? "24h")}
              />
            }
          >
            <AttemptBars bars={stats.bars.map(({ succeeded, failed }) => ({ succeeded, failed }))} />
            <Line apart>
              <Time at={stats.since} />
              <span>now</span>
            </Line>
            {stats.cut && <p>Only the newest 5,000 deliveries are counted.</p>}
          </Section>
          <Section title="Last deliveries" boxed>
            <AttemptTable projectId={projectId} subscriptionId={id} count={8} />
          </Section>
        </Stack>
        <Stack>
          <FilterFaults projectId={projectId} subscription={subscription} />
          <Answers stats={stats} />
          {agent === undefined && <TestDelivery projectId={projectId} subscription={subscription} />}
          {/* It is read after the figures, so it comes last: nothing below it moves. */}
          <LastFailure projectId={projectId} subscriptionId={id} />
        </Stack>
      </div>
    </Stack>
  );
}

function Tiles({ stats, range, waiting }: { stats: SubscriptionStats; range: Range; waiting: number }) {
  const { delivered, failed, retrying, p95Ms } = stats;
  const tried = delivered + failed + retrying;
  const tiles = [
    [
      "Delivered",
      tried === 0 ? "None yet" : `${Math.round((1_000 * delivered) / tried) / 10} %`,
      `of ${tried.toLocaleString("en")} tried`,
    ],
    ["Answer time, p95", p95Ms === 0 ? "None yet" : durationWords(p95Ms), p95Ms === 0 ? "" : "of successful attempts"],
    ["Waiting", waiting.toLocaleString("en"), `${retrying.toLocaleString("en")} of them were tried`],
    ["Failed for good", failed.toLocaleString("en"), `of ${tried.toLocaleString("en")} tried`],
  ] as const;
  return (
    <dl className={styles["tiles"]} aria-label={`Figures, ${rangeWords(range)}`}>
      {tiles.map(([name, value, note]) => (
        <div key={name} className={styles["tile"]}>
          <dt>{name === "Waiting" ? name : `${name}, ${rangeWords(range)}`}</dt>
          <dd>
            <b className={styles["number"]}>{value}</b> <span className={styles["note"]}>{note}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Draws the failed attempts by their answer. */
function Answers({ stats: { byStatus } }: { stats: SubscriptionStats }) {
  if (byStatus.length === 0) return null;
  const most = Math.max(...byStatus.map(({ count }) => count));
  return (
    <Section title="Failures by answer" boxed>
      <ul className={styles["answers"]}>
        {byStatus.map(({ error, statusCode, count }) => (
          <li key={`${statusCode} ${error}`} className={styles["answer"]}>
            <span>{attemptWord(error, statusCode).word}</span>
            <span className={styles["track"]}>
              <span className={styles["bar"]} style={{ width: `${Math.max(2, (100 * count) / most)}%` }} />
            </span>
            <span>{count.toLocaleString("en")}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Draws the request and the answer of the latest failed attempt. Draws nothing if none is known. */
function LastFailure({ projectId, subscriptionId }: { projectId: string; subscriptionId: string }) {
  const { listDeliveries, listDeliveryAttempts } = TriggersService.method;
  const failed = useQuery(listDeliveries, { subscriptionId, states: ["retrying", "failed"], pageSize: 1 });
  const deliveryId = failed.data?.deliveries[0]?.id ?? "";
  const list = useQuery(listDeliveryAttempts, { deliveryId, withRequest: true }, { enabled: deliveryId !== "" });
  const attempt = list.data?.attempts.find(({ error }) => error !== "");
  if (list.data === undefined || attempt === undefined) return null;
  return (
    <Section
      title="Last failure"
      boxed
      actions={
        <span>
          <Time at={attempt.at} />, try {attempt.number}
        </span>
      }
    >
      <Exchange attempt={attempt} body={list.data.requestBody} />
      <Line>
        <CopyCurl attempt={attempt} body={list.data.requestBody} />
        <Link to="/p/$projectId/deliveries/$deliveryId" params={{ projectId, deliveryId }}>
          See its trace
        </Link>
      </Line>
    </Section>
  );
}
