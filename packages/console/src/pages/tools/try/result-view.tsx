import { Link } from "@tanstack/react-router";
import { Button } from "../../../ui/buttons/button.tsx";
import { JsonView } from "../../../ui/code/json-view.tsx";
import { Section } from "../../../ui/layout/section.tsx";
import { Line, Stack } from "../../../ui/layout/stack.tsx";
import { Notice } from "../../../ui/notice/notice.tsx";
import { State } from "../../../ui/values/state.tsx";
import { Time } from "../../../ui/values/time.tsx";
import { outcomeWord } from "../../../words/calls.ts";
import type { Made, useSend } from "./use-calls.ts";

/** What became of a call: the outcome, the answer, and where it stands in the ledger. */
export function ResultView({
  projectId,
  made: { answer, at },
  sending,
}: {
  projectId: string;
  made: Made;
  sending: ReturnType<typeof useSend>;
}) {
  const { outcome, message, resultJson, callId, warnings, replayed } = answer;
  return (
    <Section
      title="Result"
      actions={
        callId !== "" && (
          <Link to="/p/$projectId/calls/$callId" params={{ projectId, callId }}>
            In the ledger
          </Link>
        )
      }
    >
      <Stack>
        <Line>
          <State word={outcomeWord(outcome)} />
          <Time at={at} />
          {!sending.isOfNow && <span>of what was written before</span>}
        </Line>
        {outcome === "held" && <Notice tone="warn" title="Held: nothing was sent" icon="pause" />}
        {outcome !== "held" && message !== "" && <Notice tone="bad" title={message} />}
        {replayed && (
          <Notice
            tone="info"
            title="The recorded answer of the same call: nothing was sent again."
            actions={<Button onPress={sending.startAnew}>Make it a new call</Button>}
          />
        )}
        {warnings.map((warning) => (
          <Notice key={warning} tone="warn" title={warning} />
        ))}
        {resultJson !== "" && <JsonView text={resultJson} label="result" />}
      </Stack>
    </Section>
  );
}
