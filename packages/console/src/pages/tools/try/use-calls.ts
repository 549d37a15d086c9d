import { type CallToolResponse, ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { useWrite } from "../../../calls/write.ts";
import { useNow } from "../../../clock.ts";
import { confirmed } from "./arguments.ts";

/** A call as it is written: for whom, and with which arguments. */
export type WrittenCall = { readonly toolSlug: string; readonly entityId: string; readonly argumentsJson: string };

/** What the service says of a call before it is made. */
export type CallCheck = {
  readonly answer: CallToolResponse | undefined;
  readonly error: unknown;
  /** Whether the answer is that to the call as it is written now. */
  readonly isCurrent: boolean;
};

/** A call that was made: what became of it, and of which writing it was. */
export type TriedCall = { readonly of: string; readonly answer: CallToolResponse; readonly at: number };

/** Makes a call as it is written. `isHeld`: it was held as it is written now, so that it can be confirmed. */
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
      // To read again means to ask the app again; whatever else is the same call until it is changed.
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
