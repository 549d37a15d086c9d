import { type CallToolResponse, ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { useWrite } from "../../../calls/write.ts";
import { useNow } from "../../../clock.ts";
import { confirmed } from "./arguments.ts";

/** A call as the user writes it: the tool, the entity (customer or user) and the arguments. */
export type WrittenCall = { readonly toolSlug: string; readonly entityId: string; readonly argumentsJson: string };

/** Result of the service's check of a tool call that the user is writing. The check runs before the call is sent. */
export type CallCheck = {
  readonly answer: CallToolResponse | undefined;
  readonly error: unknown;
  /** True if the result is about the call as the user has written it now. */
  readonly isCurrent: boolean;
};

/**
 * A tool call that the user has sent. `of`: the call as text, to compare with the form. `answer`: the service's answer. `at`: time of the
 * call, in epoch milliseconds.
 */
export type TriedCall = { readonly of: string; readonly answer: CallToolResponse; readonly at: number };

/**
 * Returns functions that send the call in the form, and the state of the last sent call. `isHeld`: true if the form has not changed since
 * that call and svc requires a confirmation. The user can then press the button that confirms.
 */
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
      // After a read, a new key is needed, because svc would answer the same key with the stored result and not ask the app again. Other
      // calls keep their key until the user changes them.
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
