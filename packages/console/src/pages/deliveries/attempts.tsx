import { useQuery } from "@connectrpc/connect-query";
import { type DeliveryAttempt, TriggersService } from "@svc/gen/triggers";
import { Line } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { attemptErrorWords, attemptWord } from "../../words/deliveries.ts";
import { visible } from "../../words/text.ts";
import { durationWords } from "../../words/time.ts";
import styles from "./attempts.module.css";

const lookMs = 2_000;

/** Draws the attempts of a delivery, latest first. Each shows its request and its response. */
export function Attempts({ deliveryId, isPending }: { deliveryId: string; isPending: boolean }) {
  const list = useQuery(
    TriggersService.method.listDeliveryAttempts,
    { deliveryId },
    { refetchInterval: isPending ? lookMs : false },
  );
  if (list.isPending) return <Skeleton rows={2} />;
  if (list.data === undefined) return <FaultNotice error={list.error} onRetry={() => void list.refetch()} />;
  if (list.data.attempts.length === 0) return <p className={styles["quiet"]}>not sent yet</p>;
  return (
    <ol className={styles["attempts"]}>
      {list.data.attempts.map((attempt) => (
        <li key={attempt.number} className={styles["attempt"]}>
          <Attempt attempt={attempt} />
        </li>
      ))}
    </ol>
  );
}

function Attempt({
  attempt: { number, at, durationMs, address, error, statusCode, requestUrl, responseHeaders, responseBody },
}: {
  attempt: DeliveryAttempt;
}) {
  const headers = Object.entries(responseHeaders);
  return (
    <>
      <Line>
        <State word={attemptWord(error, statusCode)} />
        <b>Attempt {number}</b>
        <span className={styles["quiet"]}>
          <Time at={at} />, {durationWords(durationMs)}
        </span>
      </Line>
      {error !== "" && <p>{attemptErrorWords(error)}</p>}
      <Facts
        facts={[
          ["Posted to", requestUrl],
          ["Address", address === "" ? "none" : address],
          [
            "Answered",
            responseBody === "" ? undefined : (
              <pre key="body" className={styles["body"]}>
                {visible(responseBody)}
              </pre>
            ),
          ],
          [
            "Headers",
            headers.length === 0 ? undefined : (
              <pre key="headers" className={styles["body"]}>
                {visible(headers.map(([name, value]) => `${name}: ${value}`).join("\n"))}
              </pre>
            ),
          ],
        ]}
      />
    </>
  );
}
