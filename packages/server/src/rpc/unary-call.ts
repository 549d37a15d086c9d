import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromJson,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import {
  type ConnectRouterOptions,
  type ContextValues,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import {
  compressionNegotiate,
  createMethodSerializationLookup,
  validateReadWriteMaxBytes,
} from "@connectrpc/connect/protocol";
import {
  contentTypeUnaryJson,
  contentTypeUnaryProto,
  parseTimeout,
  trailerMux,
} from "@connectrpc/connect/protocol-connect";
import { compressionGzip } from "@connectrpc/connect-node";
import { principalContext, waitContext } from "@svc/core";
import type { Gate } from "../auth/gate.ts";
import type { KeyLookupWait } from "../auth/key-cache.ts";
import type { Answer, WriteAnswer } from "./answers.ts";
import { type Call, callContext } from "./call.ts";
import type { CallEnding } from "./call-ending.ts";
import { checkRequest } from "./check-request.ts";
import { decodeError, type OutgoingError, timedOut, toWireError, type WireError } from "./connect-error.ts";
import type { ReceivedBody } from "./receive-body.ts";

/** A unary request of the Connect protocol, before its body is read. */
export type ArrivedCall = {
  readonly call: Call;
  readonly isJson: boolean;
  readonly authorization: string | null;
  /** The encoding of the body if svc does not support it, or else null. */
  readonly encoding: string | null;
  /** Timeout of the call in milliseconds, as text: the value of the header Connect-Timeout-Ms, or the default. */
  readonly timeout: string;
  /** Returns all headers of the request. Only some methods need them, so they are converted only when this function is called. */
  readonly header: () => Headers;
  /** Waits for the lookup of the caller's key. During this wait, the body of the request is not read. */
  readonly wait: KeyLookupWait;
  /** Returns the whole body. Rejects with Connect's error type. */
  readonly read: () => Promise<ReceivedBody>;
  /** Ends the call. The HTTP layer ends it when the client disconnects. */
  readonly ending: CallEnding;
};

/**
 * Outcome of an API call. `answer` or `error`: its result. `header`: the headers that the handler of the call added; undefined if the
 * handler added none.
 */
export type UnaryOutcome = { readonly header: Headers | undefined } & (
  | { readonly answer: Answer; readonly error?: undefined }
  | { readonly error: WireError }
);

/** Runs one API call, from the check of its credential to its result, and returns the result. Never rejects. */
export type UnaryCall = (arrived: ArrivedCall) => Promise<UnaryOutcome>;

/** Objects that all unary calls of a node use before and after their methods. */
export type UnaryParts = Required<Pick<ConnectRouterOptions, "jsonOptions" | "maxTimeoutMs" | "shutdownSignal">> & {
  readonly admit: Gate;
  readonly outgoing: OutgoingError;
  readonly write: WriteAnswer;
};

/** A method of a service. `readMaxBytes`: maximum size of its requests in bytes. */
export type UnaryMethod = {
  readonly desc: DescMethodUnary;
  readonly implementation: (request: Message, context: HandlerContext) => unknown;
  readonly readMaxBytes: number;
};

/**
 * Returns the function that handles unary API calls (one request, one response). Its responses have exactly the same bytes as those of the
 * handlers in Connect, the RPC library. The handlers of Connect also support streams and further protocols. For this they copy headers
 * three times, and create four signals and iterators, which is half the cost of a small call.
 */
export function createUnaryCalls(parts: UnaryParts): (method: UnaryMethod) => UnaryCall {
  const { shutdownSignal } = parts;
  const underWay = new Set<CallEnding>();
  const endAll = () => {
    for (const ending of underWay) ending.end(shutdownSignal.reason);
  };
  shutdownSignal.addEventListener("abort", endAll, { once: true });
  return (method) => {
    const serve = createServing(parts, method);
    return async (arrived) => {
      const { ending } = arrived;
      const timeout = parseTimeout(arrived.timeout, parts.maxTimeoutMs);
      const stopDeadline = startDeadline(timeout.timeoutMs, ending);
      if (shutdownSignal.aborted) ending.end(shutdownSignal.reason);
      underWay.add(ending);
      const context = new UnaryContext(method.desc, arrived, timeout.timeoutMs);
      try {
        return { answer: await serve(arrived, context, timeout.error), header: context.addedHeader() };
      } catch (error) {
        ending.end(error);
        return { error: toWireError(error), header: context.addedHeader() };
      } finally {
        stopDeadline();
        underWay.delete(ending);
        ending.end(answered);
      }
    };
  };
}

/**
 * Reason with which an answered call ends. It is created once, because creating its stack costs more than everything
 * else at the end of a call.
 */
const answered = new DOMException("This operation was aborted", "AbortError");

function startDeadline(timeoutMs: number | undefined, ending: CallEnding): () => void {
  if (timeoutMs === undefined) return () => {};
  const end = () => ending.end(timedOut());
  if (timeoutMs <= 0) end();
  const timer = timeoutMs <= 0 ? undefined : setTimeout(end, timeoutMs);
  return () => clearTimeout(timer);
}

/**
 * Returns the function that serves a call. Its steps have the order of Connect's handler: check of the key, headers, body, decoding, and
 * then the work that Connect does in interceptors.
 */
function createServing(
  { admit, outgoing, write, jsonOptions }: UnaryParts,
  { desc, implementation, readMaxBytes }: UnaryMethod,
): (arrived: ArrivedCall, context: UnaryContext, timeoutError: WireError | undefined) => Promise<Answer> {
  const limits = validateReadWriteMaxBytes(readMaxBytes, undefined, undefined);
  const serialization = createMethodSerializationLookup(desc, undefined, jsonOptions, limits);
  const output: DescMessage = desc.output;
  const perform = async (request: Message, { call, isJson }: ArrivedCall, context: UnaryContext) => {
    checkRequest(desc.input, request);
    const message = create(output, (await implementation(request, context)) as Message);
    return (await write({ desc: output, message, call, isJson })) ?? message;
  };
  return async (arrived, context, timeoutError) => {
    const { call, isJson, authorization, wait } = arrived;
    const principal = await admit({ method: desc, authorization, call, wait });
    if (principal !== undefined) context.values.set(principalContext, principal).set(waitContext, call.enterWait);
    const { error } = compressionNegotiate([compressionGzip], arrived.encoding, null, "accept-encoding");
    if (error !== undefined) throw error;
    if (timeoutError !== undefined) throw timeoutError;
    const { bytes, value } = await arrived.read();
    const request =
      bytes === undefined ? messageOf(desc.input, value, jsonOptions) : serialization.getI(!isJson).parse(bytes);
    const { values } = context;
    const written = await arrived.ending.until(perform(request, arrived, context)).catch((error: unknown) => {
      throw outgoing(error, { signal: context.signal, contextValues: values });
    });
    return "$typeName" in written ? binaryAnswer(serialization.getO(true).serialize(written)) : written;
  };
}

/** Returns the request of a JSON value. Throws the same errors as Connect, which parses the text itself. */
function messageOf(desc: DescMessage, value: JsonValue, options: UnaryParts["jsonOptions"]): Message {
  try {
    return fromJson(desc, value, options);
  } catch (error) {
    throw decodeError(error);
  }
}

function binaryAnswer(bytes: Uint8Array<ArrayBuffer>): Answer {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { body, gzip: async () => Buffer.from(await compressionGzip.compress(bytes)) };
}

/**
 * The context of a method call, with the interface that the library Connect requires. Rarely used properties, such as headers, are created
 * when they are first read.
 */
class UnaryContext implements HandlerContext {
  readonly method: DescMethodUnary;
  readonly service: HandlerContext["service"];
  readonly values: ContextValues;
  readonly requestMethod = "POST";
  readonly protocolName = "connect";
  /** Returns how many milliseconds are left until the call's timeout. Returns undefined if the call has no timeout. */
  readonly timeoutMs: () => number | undefined;
  readonly #arrived: ArrivedCall;
  #requestHeader: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  constructor(method: DescMethodUnary, arrived: ArrivedCall, timeoutMs: number | undefined) {
    this.method = method;
    this.service = method.parent;
    this.values = createContextValues().set(callContext, arrived.call);
    this.#arrived = arrived;
    const beganMs = performance.now();
    // An arrow function also works if a method calls it without the object.
    this.timeoutMs = () => (timeoutMs === undefined ? undefined : beganMs + timeoutMs - performance.now());
  }

  get signal(): AbortSignal {
    return this.#arrived.ending.signal;
  }

  get url(): string {
    return `http://localhost/${this.#arrived.call.method}`;
  }

  get requestHeader(): Headers {
    this.#requestHeader ??= this.#arrived.header();
    return this.#requestHeader;
  }

  get responseHeader(): Headers {
    const type = this.#arrived.isJson ? contentTypeUnaryJson : contentTypeUnaryProto;
    this.#responseHeader ??= new Headers({ "content-type": type });
    return this.#responseHeader;
  }

  get responseTrailer(): Headers {
    this.#responseTrailer ??= new Headers();
    return this.#responseTrailer;
  }

  /** Returns the headers and trailers that the method added to the answer, all as headers; undefined if it added none. */
  addedHeader(): Headers | undefined {
    if (this.#responseHeader === undefined && this.#responseTrailer === undefined) return undefined;
    return trailerMux(this.responseHeader, this.responseTrailer);
  }
}
