import type { DescMessage, DescMethodUnary, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";

/** A call that changes something, with its state for the page. */
type Write<I extends DescMessage, O extends DescMessage> = {
  /**
   * Makes the call. Does nothing while a call is in progress, or if the same call was made less than half a second before (a double press).
   */
  send: (input: MessageInitShape<I>) => void;
  /**
   * Makes the call like `send`, and returns its answer. If `send` would ignore the call (a double press), returns the answer of the
   * previous call. Rejects if the call fails.
   */
  sendAsync: (input: MessageInitShape<I>) => Promise<MessageShape<O>>;
  isSending: boolean;
  /** Request of the last call that was made; undefined before the first call. */
  sent: MessageInitShape<I> | undefined;
  /** Answer to the last call; undefined until it arrives. */
  answer: MessageShape<O> | undefined;
  /** Error of the last call; null if the last call succeeded, is in progress, or was never made. */
  error: unknown;
  /** Removes the last call with its answer or error from the state, as if no call had been made. */
  reset: () => void;
};

/**
 * Functions that run when a call of the API ends. `onSuccess` gets the answer; while it runs, the call is still shown as in progress.
 * `onSettled` runs after a success and after a failure.
 */
type WriteOptions<I extends DescMessage, O extends DescMessage> = {
  onSuccess?: (answer: MessageShape<O>, input: MessageInitShape<I>) => unknown;
  onSettled?: () => unknown;
  /** True if the answer is secret: it is removed from memory when it is no longer shown. */
  isSecret?: boolean;
};

/** Time after a call in which the same call counts as a double press, in milliseconds. */
const doublePressMs = 500;

type Made<Answer> = { readonly input: string; readonly answer: Promise<Answer>; isUnderWay: boolean };

/** Returns a call that changes something, with its state. A double press never makes the call twice. */
export function useWrite<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  { isSecret = false, ...then }: WriteOptions<I, O> = {},
): Write<I, O> {
  // The last call. It is kept in a ref, because the page shows its pending state a moment later, and a second press may come before that
  // moment.
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
    // `send` ignores the rejection, because the member `error` has the error and the page shows it.
    send: (input) => void sendAsync(input).catch(() => {}),
    sendAsync,
    isSending: mutation.isPending,
    sent: mutation.variables,
    answer: mutation.data,
    error: mutation.error,
    reset: mutation.reset,
  };
}

/** Returns a function that reads again all shown data of one service of the API. Pages use it after a change. */
export function useRefresh(service: DescService): () => Promise<void> {
  const queries = useQueryClient();
  return () =>
    queries.invalidateQueries({ queryKey: createConnectQueryKey({ schema: service, cardinality: undefined }) });
}
