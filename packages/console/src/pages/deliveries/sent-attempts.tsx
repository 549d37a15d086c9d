import { useQuery } from "@connectrpc/connect-query";
import { type DeliveryAttempt, TriggersService } from "@svc/gen/triggers";
import { Button } from "../../ui/buttons/button.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { copyText } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { attemptWord } from "../../words/deliveries.ts";
import { durationWords } from "../../words/time.ts";
import { curlOf } from "./curl.ts";
import { Exchange } from "./exchange.tsx";

const lookMs = 2_000;

/** Draws the attempts of a delivery with their requests and answers, latest first. The latest is open. */
export function SentAttempts({ deliveryId, isPending }: { deliveryId: string; isPending: boolean }) {
  const list = useQuery(
    TriggersService.method.listDeliveryAttempts,
    { deliveryId, withRequest: true },
    { refetchInterval: isPending ? lookMs : false },
  );
  if (list.isPending) return <Skeleton rows={4} />;
  if (list.data === undefined) return <FaultNotice error={list.error} onRetry={() => void list.refetch()} />;
  const { attempts, requestBody } = list.data;
  if (attempts.length === 0) return <p>not sent yet</p>;
  return (
    <Stack tight>
      {attempts.map((attempt, index) => (
        <Disclosure key={attempt.number} summary={<Summary attempt={attempt} />} initiallyOpen={index === 0}>
          <Stack tight>
            <Exchange attempt={attempt} body={requestBody} />
            <Line>
              <CopyCurl attempt={attempt} body={requestBody} />
            </Line>
          </Stack>
        </Disclosure>
      ))}
    </Stack>
  );
}

function Summary({ attempt: { number, error, statusCode, at, durationMs } }: { attempt: DeliveryAttempt }) {
  return (
    <>
      <State word={attemptWord(error, statusCode)} />
      <b>Attempt {number}</b>
      <span>
        <Time at={at} />, {durationWords(durationMs)}
      </span>
    </>
  );
}

/** Draws the button that copies the request of an attempt as a shell command. */
export function CopyCurl({
  attempt: { requestUrl, requestHeaders },
  body,
}: {
  attempt: DeliveryAttempt;
  body: string;
}) {
  const command = curlOf({ url: requestUrl, headers: requestHeaders, body });
  return (
    <Button icon="copy" onPress={() => void copyText(command, "the request as curl")}>
      Copy as curl
    </Button>
  );
}
