import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { useRef } from "react";

/** A call that changes something, as its page shows it. */
export type Write<I extends DescMessage> = {
  /** Makes the call. While one is under way it does nothing: a double press is one press. */
  send: (input: MessageInitShape<I>) => void;
  isSending: boolean;
  /** What the last try failed with; null for nothing. */
  error: unknown;
};

/** Makes a call that changes something, never twice at once. `onSuccess` has its answer, before it counts as made. */
export function useWrite<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  onSuccess: (answer: MessageShape<O>) => unknown,
): Write<I> {
  // That a call is under way is drawn a moment later, and a second press may come before.
  const isUnderWay = useRef(false);
  const { mutate, isPending, error } = useMutation(method, { onSuccess });
  return {
    send: (input) => {
      if (isUnderWay.current) return;
      isUnderWay.current = true;
      mutate(input, {
        onSettled: () => {
          isUnderWay.current = false;
        },
      });
    },
    isSending: isPending,
    error,
  };
}
