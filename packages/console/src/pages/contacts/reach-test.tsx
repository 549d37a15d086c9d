import { useMutation } from "@connectrpc/connect-query";
import type { Reach } from "@svc/gen/contacts";
import { ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { randomKey } from "../../random.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/copy.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Line, Stack } from "../../ui/stack.tsx";
import { prettyJson } from "../../words/pretty-json.ts";
import { sampleArguments } from "./sample-question.ts";

/** Tries how a contact is reached: shows the request first, and sends it only then. */
export function ReachTest({ reach }: { reach: Reach }) {
  const [idempotencyKey] = useState(randomKey);
  const call = { toolSlug: reach.toolSlug, entityId: reach.entityId, argumentsJson: sampleArguments(reach.argsJson) };
  const look = useMutation(ToolsService.method.callTool);
  const send = useMutation(ToolsService.method.callTool);
  const answer = send.data ?? look.data;
  return (
    <Stack>
      <Line>
        <Button
          icon="search"
          onPress={() => look.mutate({ ...call, dryRun: true })}
          busy={look.isPending ? "Looking" : undefined}
        >
          Show the test message
        </Button>
        {look.isSuccess && (
          <Button
            icon="send"
            onPress={() => send.mutate({ ...call, idempotencyKey })}
            busy={send.isPending ? "Sending" : undefined}
          >
            Send it
          </Button>
        )}
      </Line>
      <FaultNotice error={send.error ?? look.error} />
      {answer !== undefined && (
        <Notice
          tone={send.isSuccess && answer.outcome === "ok" ? "ok" : "plain"}
          title={send.isSuccess ? `Sent: ${answer.outcome}` : "This would be sent"}
        >
          {answer.message !== "" && <p>{answer.message}</p>}
        </Notice>
      )}
      {look.isSuccess && <CodeBlock text={prettyJson(look.data.resultJson || call.argumentsJson)} what="request" />}
    </Stack>
  );
}
