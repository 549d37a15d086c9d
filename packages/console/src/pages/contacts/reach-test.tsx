import type { Reach } from "@svc/gen/contacts";
import { ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { randomKey } from "../../random.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { prettyJson } from "../../words/pretty-json.ts";
import { sampleArguments } from "./sample-question.ts";

/** Tries how a contact is reached: shows the request first, and sends it only then. */
export function ReachTest({ reach }: { reach: Reach }) {
  const [idempotencyKey] = useState(randomKey);
  const call = { toolSlug: reach.toolSlug, entityId: reach.entityId, argumentsJson: sampleArguments(reach.argsJson) };
  const look = useWrite(ToolsService.method.callTool);
  const send = useWrite(ToolsService.method.callTool);
  const answer = send.answer ?? look.answer;
  return (
    <Stack>
      <Line>
        <Button
          icon="search"
          onPress={() => look.send({ ...call, dryRun: true })}
          busy={look.isSending ? "Looking" : undefined}
        >
          Show the test message
        </Button>
        {look.answer !== undefined && (
          <Button
            icon="send"
            onPress={() => send.send({ ...call, idempotencyKey })}
            busy={send.isSending ? "Sending" : undefined}
          >
            Send it
          </Button>
        )}
      </Line>
      <FaultNotice error={send.error ?? look.error} />
      {answer !== undefined && (
        <Notice
          tone={send.answer !== undefined && answer.outcome === "ok" ? "ok" : "plain"}
          title={send.answer !== undefined ? `Sent: ${answer.outcome}` : "This would be sent"}
        >
          {answer.message !== "" && <p>{answer.message}</p>}
        </Notice>
      )}
      {look.answer !== undefined && (
        <CodeBlock text={prettyJson(look.answer.resultJson || call.argumentsJson)} what="request" />
      )}
    </Stack>
  );
}
