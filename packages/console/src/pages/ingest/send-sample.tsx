import { useQuery } from "@connectrpc/connect-query";
import { SandboxService } from "@svc/gen/sandbox";
import { StatsService } from "@svc/gen/stats";
import { Link, useParams } from "@tanstack/react-router";
import { failureOf } from "../../calls/fault.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { useTriggerSlugs } from "../events/trigger-choice.tsx";

/** Draws the button that makes a sample event of an app. Draws nothing outside of the sandbox, which alone can make one. */
export function SendSample({ toolkitSlug }: { toolkitSlug: string }) {
  const { projectId = "" } = useParams({ strict: false });
  const start = useQuery(StatsService.method.getStart, {}, { staleTime: Number.POSITIVE_INFINITY });
  const [triggerSlug] = useTriggerSlugs(toolkitSlug);
  const send = useWrite(SandboxService.method.sendSampleEvent);
  if (start.data?.sandbox !== true || triggerSlug === undefined) return null;
  const isShared =
    send.error !== null && failureOf(send.error).faults.some(({ reason }) => reason === "SANDBOX_SAMPLE_SHARED");
  return (
    <>
      <Line>
        <Button
          icon="send"
          busy={send.isSending ? "Sending" : undefined}
          onPress={() => send.send({ triggerSlug, toAllReceivers: send.sent?.toAllReceivers === true })}
        >
          Send a sample
        </Button>
        {send.answer !== undefined && (
          <Link to="/p/$projectId/events/$eventId" params={{ projectId, eventId: send.answer.eventId }}>
            See its trace
          </Link>
        )}
      </Line>
      {isShared ? (
        <Notice
          tone="warn"
          title="Not sent: others would receive it too."
          actions={
            <Button onPress={() => send.send({ triggerSlug, toAllReceivers: true })}>Send to all of them</Button>
          }
        >
          <p>{failureOf(send.error).message}. Their endpoints may be real servers.</p>
        </Notice>
      ) : (
        <FaultNotice error={send.error} />
      )}
    </>
  );
}
