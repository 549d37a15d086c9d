import type { DescMessage, DescMethodUnary, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";

/** A call that changes something, as its page shows it. */
type Write<I extends DescMessage, O extends DescMessage> = {
  /**
   * Makes the call. While one is under way it does nothing, nor for half a second after the same call was made: a double press is one press,
   * however quick the answer.
   */
  send: (input: MessageInitShape<I>) => void;
  /** The same, for whoever goes on with its answer: that of the call before, where none is made. Rejects as the call does. */
  sendAsync: (input: MessageInitShape<I>) => Promise<MessageShape<O>>;
  isSending: boolean;
  /** What the last call was made with; undefined before the first. */
  sent: MessageInitShape<I> | undefined;
  /** What the last call was answered; undefined while there is no answer. */
  answer: MessageShape<O> | undefined;
  /** What the last call failed with; null for nothing. */
  error: unknown;
  /** Forgets the last call. */
  reset: () => void;
};

/** What becomes of a call. `onSuccess` has its answer, before it counts as made; `onSettled` runs however it ended. */
type WriteOptions<I extends DescMessage, O extends DescMessage> = {
  onSuccess?: (answer: MessageShape<O>, input: MessageInitShape<I>) => unknown;
  onSettled?: () => unknown;
  /** Its answer is kept no longer than it is shown. */
  isSecret?: boolean;
};

/** So long after it was made the same call is the second press of a double one. */
const doublePressMs = 500;

type Made<Answer> = { readonly input: string; readonly answer: Promise<Answer>; isUnderWay: boolean };

/** A call that changes something, never made twice by one double press. */
export function useWrite<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  { isSecret = false, ...then }: WriteOptions<I, O> = {},
): Write<I, O> {
  // That a call is under way is drawn a moment later, and a second press may come before.
  const last = useRef<Made<MessageShape<O>>>(undefined);
  const mutation = useMutation(method, { ...then, ...(isSecret && { gcTime: 0 }) });
  const sendAsync = (input: MessageInitShape<I>) => {
    const text = JSON.stringify(input, (_, value) => (typeof value === "bigint" ? String(value) : value));
    const before = last.current;
    if (before !== undefined && (before.isUnderWay || before.input === text)) return before.answer;
    const made = { input: text, answer: mutation.mutateAsync(input), isUnderWay: true };
    last.current = made;
    const forget = () => {
      if (last.current === made) last.current = undefined;
    };
    made.answer.then(() => {
      made.isUnderWay = false;
      setTimeout(forget, doublePressMs);
    }, forget);
    return made.answer;
  };
  return {
    // What it fails with is in `error`, which stands on the page.
    send: (input) => void sendAsync(input).catch(() => {}),
    sendAsync,
    isSending: mutation.isPending,
    sent: mutation.variables,
    answer: mutation.data,
    error: mutation.error,
    reset: mutation.reset,
  };
}

/** Reads again what is shown of a service, after something of it was changed. */
export function useRefresh(service: DescService): () => Promise<void> {
  const queries = useQueryClient();
  return () =>
    queries.invalidateQueries({ queryKey: createConnectQueryKey({ schema: service, cardinality: undefined }) });
}
