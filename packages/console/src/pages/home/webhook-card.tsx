import { useQuery } from "@connectrpc/connect-query";
import { SandboxService } from "@svc/gen/sandbox";
import { StatsService } from "@svc/gen/stats";
import { TriggersService } from "@svc/gen/triggers";
import { failureOf } from "../../calls/fault.ts";
import { useLookMs } from "../../calls/live-state.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { useNow, usePassed } from "../../clock.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { State } from "../../ui/values/state.tsx";
import { deliveryWhy, deliveryWord } from "../../words/deliveries.ts";
import type { Word } from "../../words/word.ts";
import { closeLookMs, lookMs } from "./first-steps.ts";
import { WebhookPicture } from "./pictures.tsx";
import styles from "./start.module.css";
import { CardLink, type CardProperties, StartCard } from "./start-card.tsx";

/**
 * Draws the card of a new project that shows how to receive webhooks. In the sandbox, one press stores a sample event and shows its
 * delivery.
 */
export function WebhookCard({ projectId, start, isDone, onPress }: CardProperties) {
  const refresh = useRefresh(StatsService);
  const send = useWrite(SandboxService.method.sendSampleEvent, { onSuccess: () => void refresh() });
  const sent = send.answer;
  const press = (toAllReceivers: boolean) => {
    onPress();
    send.send({ toAllReceivers });
  };
  // A user who agreed once is not asked again.
  const pressAgain = () => press(send.sent?.toAllReceivers === true);
  const frame = {
    title: "Receive a webhook",
    icon: "event",
    colour: "event",
    isDone,
    picture: <WebhookPicture />,
    says: "An app posts. svc checks the signature, stores the event and delivers it, signed, with retries.",
  } as const;
  if (!start.sandbox)
    return (
      <StartCard
        {...frame}
        note="Needs the webhook secret of an app and its address here. Both are on the page Incoming webhooks."
        result={null}
      >
        <CardLink to="/p/$projectId/ingest" params={{ projectId }} isMain>
          Show incoming addresses
        </CardLink>
        <CardLink to="/p/$projectId/subscriptions/new" params={{ projectId }}>
          Deliver to my server
        </CardLink>
      </StartCard>
    );
  return (
    <StartCard
      {...frame}
      note="Sends a sample event of an app to a sandbox inbox. No server needed."
      result={
        <>
          <Refused error={send.error} onAgree={() => press(true)} />
          {sent !== undefined && <SentEvent key={sent.eventId} {...sent} />}
        </>
      }
    >
      {sent === undefined ? (
        <Button kind="primary" icon="send" busy={send.isSending ? "Sending" : undefined} onPress={pressAgain}>
          Send a sample event
        </Button>
      ) : (
        <>
          <CardLink to="/p/$projectId/events/$eventId" params={{ projectId, eventId: sent.eventId }} isMain>
            See its trace
          </CardLink>
          <Button busy={send.isSending ? "Sending" : undefined} onPress={pressAgain}>
            Send another
          </Button>
        </>
      )}
      <CardLink to="/p/$projectId/subscriptions/new" params={{ projectId }}>
        Deliver to my server
      </CardLink>
    </StartCard>
  );
}

/** Draws why the sample was not sent. If others would receive it too, the user may send it to all of them. */
function Refused({ error, onAgree }: { error: unknown; onAgree: () => void }) {
  if (error === null) return null;
  const { faults, message } = failureOf(error);
  if (!faults.some(({ reason }) => reason === "SANDBOX_SAMPLE_SHARED")) return <FaultNotice error={error} />;
  return (
    <Notice
      tone="warn"
      title="Not sent: others would receive it too."
      actions={<Button onPress={onAgree}>Send to all of them</Button>}
    >
      <p>{message}. Their endpoints may be real servers.</p>
    </Notice>
  );
}

/** Draws the sample event that was sent, and reads its delivery often until it ends or `closeLookMs` have passed. */
function SentEvent({
  eventId,
  subscriptionId,
  triggerSlug,
  payloadJson,
}: {
  eventId: string;
  subscriptionId: string;
  triggerSlug: string;
  payloadJson: string;
}) {
  const { listDeliveries } = TriggersService.method;
  const isLate = usePassed(closeLookMs);
  const usualMs = useLookMs(listDeliveries);
  const now = useNow();
  const deliveries = useQuery(
    listDeliveries,
    { eventId, subscriptionId, pageSize: 1 },
    { refetchInterval: ({ state }) => isPending(state.data?.deliveries[0]?.state) && (isLate ? usualMs : lookMs) },
  );
  const delivery = deliveries.data?.deliveries[0];
  const attempts = useQuery(
    TriggersService.method.listDeliveryAttempts,
    { deliveryId: delivery?.id ?? "" },
    { enabled: delivery !== undefined && !isPending(delivery.state) },
  );
  const status = attempts.data?.attempts.at(-1)?.statusCode;
  const isToSay = isLate || (delivery?.lastError ?? "") !== "";
  const why = delivery === undefined ? "The delivery has not begun yet." : deliveryWhy(delivery, now);
  return (
    <>
      <FaultNotice error={deliveries.error ?? attempts.error} />
      <div className={styles["row"]}>
        <b>{triggerSlug}</b>
        <span className={styles["glance"]}>{payloadJson}</span>
        {delivery !== undefined && <State word={withStatus(deliveryWord(delivery), status)} />}
      </div>
      {isToSay && why !== "" && <p className={styles["quiet"]}>{why}</p>}
    </>
  );
}

function isPending(state: string | undefined): boolean {
  return state === undefined || state === "pending";
}

function withStatus(word: Word, status: number | undefined): Word {
  return status === undefined || status === 0 ? word : { ...word, word: `${word.word}, ${status}` };
}
