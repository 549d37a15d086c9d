import type { Tool } from "@svc/gen/catalog";
import { Button } from "../../../ui/buttons/button.tsx";
import { Line, Stack } from "../../../ui/layout/stack.tsx";
import type { Check, useSend } from "./use-calls.ts";
import type { TryInput } from "./use-try.ts";

/** What sends a call, by what it does. A destructive call is held first, and only what was held and shown can be confirmed. */
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
  check: Check;
  sending: ReturnType<typeof useSend>;
  isSandbox: boolean;
  /** Whether all that is wrong with the arguments stands at its fields; else a press has it stand there, and sends nothing. */
  isMarked: boolean;
  onMark: () => void;
}) {
  const where = isSandbox ? "in the sandbox" : `to the real app as ${input.entity || "nobody"}`;
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
          Hold it for confirmation
        </Button>
        {sending.isHeld && (
          <Button kind="danger" icon="send" busy={sending.isSending ? "Sending" : undefined} onPress={sending.confirm}>
            Confirm and send {where}
          </Button>
        )}
      </Line>
      {!sending.isHeld && <p>Nothing is sent by this press: it says what would be, and a second press sends it.</p>}
    </Stack>
  );
}

/** Why a call cannot be sent as it is written; undefined where it can. A check that failed keeps nobody from trying. */
function whyNot({ fault }: TryInput, { answer, error, isCurrent }: Check, isMarked: boolean): string | undefined {
  if (fault !== undefined) return "Mend the JSON first.";
  if (error !== null) return undefined;
  if (!isCurrent || answer === undefined) return "It is being checked.";
  if (answer.outcome === "ok" || answer.outcome === "held") return undefined;
  if (answer.outcome !== "invalid_arguments") return answer.message;
  return isMarked ? "Mend what is marked first." : undefined;
}
