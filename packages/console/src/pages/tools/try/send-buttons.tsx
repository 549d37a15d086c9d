import type { Tool } from "@svc/gen/catalog";
import { Link } from "@tanstack/react-router";
import { Button } from "../../../ui/buttons/button.tsx";
import { JsonView } from "../../../ui/code/json-view.tsx";
import { Section } from "../../../ui/layout/section.tsx";
import { Line, Stack } from "../../../ui/layout/stack.tsx";
import { Notice } from "../../../ui/notice/notice.tsx";
import { State } from "../../../ui/values/state.tsx";
import { Time } from "../../../ui/values/time.tsx";
import { outcomeWord } from "../../../words/calls.ts";
import type { CallCheck, TriedCall, useSend } from "./use-calls.ts";
import type { TryInput } from "./use-try.ts";

/**
 * Draws the buttons that send a tool call. They depend on the tool's class. For a destructive call, the first button only shows the request
 * that would be sent, and a second button then confirms and sends the call.
 */
export function SendButtons({
  tool: { accessClass },
  input,
  check,
  sending,
  isSandbox,
  isMarked,
  onMark,
}: {
  tool: Tool;
  input: TryInput;
  check: CallCheck;
  sending: ReturnType<typeof useSend>;
  isSandbox: boolean;
  /**
   * True if the page already shows all errors of the arguments. If false and there are errors, the button only shows them and sends
   * nothing.
   */
  isMarked: boolean;
  onMark: () => void;
}) {
  const where = isSandbox ? "in the sandbox" : `to the real app as ${input.entity || "no user"}`;
  const why = whyNot(input, check, isMarked);
  const send = () => (check.answer?.outcome === "invalid_arguments" ? onMark() : sending.send());
  if (accessClass !== "destructive") {
    return (
      <Line>
        <Button kind="primary" icon="send" why={why} busy={sending.isSending ? "Sending" : undefined} onPress={send}>
          Send {where}
        </Button>
      </Line>
    );
  }
  return (
    <Stack tight>
      <Line>
        <Button
          icon="pause"
          why={why}
          busy={sending.isSending && !sending.isHeld ? "Sending" : undefined}
          onPress={send}
        >
          Preview, don't send
        </Button>
        {sending.isHeld && (
          <Button kind="danger" icon="send" busy={sending.isSending ? "Sending" : undefined} onPress={sending.confirm}>
            Confirm and send {where}
          </Button>
        )}
      </Line>
      {!sending.isHeld && <p>This shows what would be sent. Nothing is sent yet.</p>}
    </Stack>
  );
}

/** Returns the reason why the call cannot be sent yet, for example invalid JSON. Undefined if the call can be sent. */
function whyNot({ fault }: TryInput, { answer, error, isCurrent }: CallCheck, isMarked: boolean): string | undefined {
  if (fault !== undefined) return "Fix the JSON first.";
  // The check itself failed. This does not prevent sending.
  if (error !== null) return undefined;
  if (!isCurrent || answer === undefined) return "Checking…";
  if (answer.outcome === "ok" || answer.outcome === "held") return undefined;
  if (answer.outcome !== "invalid_arguments") return answer.message;
  return isMarked ? "Fix the marked fields first." : undefined;
}

/** Shows the result of a call: its outcome, the answer, and a link to the stored call. */
export function ResultView({
  projectId,
  made: { answer, at },
  sending,
}: {
  projectId: string;
  made: TriedCall;
  sending: ReturnType<typeof useSend>;
}) {
  const { outcome, message, resultJson, callId, warnings, replayed } = answer;
  return (
    <Section
      title="Result"
      actions={
        callId !== "" && (
          <Link to="/p/$projectId/calls/$callId" params={{ projectId, callId }}>
            Call log
          </Link>
        )
      }
    >
      <Stack>
        <Line>
          <State word={outcomeWord(outcome)} />
          <Time at={at} />
          {!sending.isOfNow && <span>of the earlier arguments</span>}
        </Line>
        {outcome === "held" && <Notice tone="warn" title="Nothing was sent" icon="pause" />}
        {outcome !== "held" && message !== "" && <Notice tone="bad" title={message} />}
        {replayed && (
          <Notice
            tone="info"
            title="This is the stored answer of the same call. Nothing was sent again."
            actions={<Button onPress={sending.startAnew}>Send as a new call</Button>}
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
