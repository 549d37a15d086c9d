import { useQuery } from "@connectrpc/connect-query";
import { SandboxService } from "@svc/gen/sandbox";
import { StatsService } from "@svc/gen/stats";
import { TriggersService } from "@svc/gen/triggers";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { State } from "../../ui/values/state.tsx";
import { deliveryWord } from "../../words/deliveries.ts";
import type { Word } from "../../words/word.ts";
import { WebhookPicture } from "./pictures.tsx";
import styles from "./start.module.css";
import { CardLink, type CardProperties, StartCard } from "./start-card.tsx";

/** Interval in milliseconds at which the card reads the delivery until it ends. */
const lookMs = 300;

/** Draws the first step with webhooks. In the sandbox, one press stores a sample event and shows its delivery. */
export function WebhookCard({ projectId, start, isDone, onPress }: CardProperties) {
  const refresh = useRefresh(StatsService);
  const send = useWrite(SandboxService.method.sendSampleEvent, { onSuccess: () => void refresh() });
  const sent = send.answer;
  const press = () => {
    onPress();
    send.send({});
  };
  const frame = {
    title: "Receive a webhook",
    icon: "event",
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
      note="Sends a sample of the Calendar app to a sandbox inbox. No server needed."
      result={
        <>
          <FaultNotice error={send.error} />
          {sent !== undefined && <SentEvent key={sent.eventId} {...sent} />}
        </>
      }
    >
      {sent === undefined ? (
        <Button kind="primary" icon="send" busy={send.isSending ? "Sending" : undefined} onPress={press}>
          Send a sample event
        </Button>
      ) : (
        <>
          <CardLink to="/p/$projectId/events/$eventId" params={{ projectId, eventId: sent.eventId }} isMain>
            See its trace
          </CardLink>
          <Button busy={send.isSending ? "Sending" : undefined} onPress={press}>
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

/** Draws the sample event that was sent, and reads its delivery until it ends. */
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
  const deliveries = useQuery(
    TriggersService.method.listDeliveries,
    { eventId, subscriptionId, pageSize: 1 },
    { refetchInterval: ({ state }) => (isPending(state.data?.deliveries[0]?.state) ? lookMs : false) },
  );
  const delivery = deliveries.data?.deliveries[0];
  const attempts = useQuery(
    TriggersService.method.listDeliveryAttempts,
    { deliveryId: delivery?.id ?? "" },
    { enabled: delivery !== undefined && !isPending(delivery.state) },
  );
  const status = attempts.data?.attempts.at(-1)?.statusCode;
  return (
    <>
      <FaultNotice error={deliveries.error ?? attempts.error} />
      <div className={styles["row"]}>
        <b>{triggerSlug}</b>
        <span className={styles["glance"]}>{payloadJson}</span>
        {delivery !== undefined && <State word={withStatus(deliveryWord(delivery), status)} />}
      </div>
    </>
  );
}

function isPending(state: string | undefined): boolean {
  return state === undefined || state === "pending";
}

function withStatus(word: Word, status: number | undefined): Word {
  return status === undefined || status === 0 ? word : { ...word, word: `${word.word}, ${status}` };
}
