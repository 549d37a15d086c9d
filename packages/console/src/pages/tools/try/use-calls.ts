import { type CallToolResponse, ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { useWrite } from "../../../calls/write.ts";
import { useNow } from "../../../clock.ts";
import { confirmed } from "./arguments.ts";

/** A call as the user writes it: the entity and the arguments. */
export type WrittenCall = { readonly toolSlug: string; readonly entityId: string; readonly argumentsJson: string };

/** The service's check of a call before it is made. */
export type CallCheck = {
  readonly answer: CallToolResponse | undefined;
  readonly error: unknown;
  /** True if the answer is about the call as it is written now. */
  readonly isCurrent: boolean;
};

/** A call that was made: its answer, and the text that it was made from. */
export type TriedCall = { readonly of: string; readonly answer: CallToolResponse; readonly at: number };

/** Makes a call as written. `isHeld`: the same call needs confirmation, so that it can be confirmed now. */
export function useSend(
  call: WrittenCall,
  { key, renew, isRead }: { key: string; renew: () => void; isRead: boolean },
) {
  const of = JSON.stringify(call);
  const now = useNow();
  const [made, setMade] = useState<TriedCall>();
  const write = useWrite(ToolsService.method.callTool, {
    onSuccess: (answer) => {
      setMade({ of, answer, at: now });
      // Repeating a read asks the app again. Any other call stays the same call until it is changed.
      if (isRead) renew();
    },
  });
  const send = (argumentsJson: string) => write.send({ ...call, argumentsJson, idempotencyKey: key });
  return {
    made,
    error: write.error,
    isSending: write.isSending,
    isHeld: made?.of === of && made.answer.outcome === "held",
    isOfNow: made?.of === of,
    send: () => send(call.argumentsJson),
    confirm: () => send(confirmed(call.argumentsJson)),
    startAnew: () => {
      renew();
      setMade(undefined);
    },
  };
}
