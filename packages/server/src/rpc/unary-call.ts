import { create, type DescMessage, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
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
import { principalContext } from "@svc/core";
import type { Gate } from "../auth/gate.ts";
import type { KeyLookupWait } from "../auth/key-cache.ts";
import type { Answer, WriteAnswer } from "./answers.ts";
import { type Call, callContext } from "./call.ts";
import { withSignal } from "./call-error.ts";
import { checkRequest } from "./check-request.ts";
import { type OutgoingError, timedOut, toWireError, type WireError } from "./connect-error.ts";

/** A unary request of the Connect protocol, before its body is read. */
export type ArrivedCall = {
  readonly call: Call;
  readonly isJson: boolean;
  readonly authorization: string | null;
  /** The encoding of its body where that is none that calls take; else null. */
  readonly encoding: string | null;
  /** The header Connect-Timeout-Ms, or what it stands for where it is missing. */
  readonly timeout: string;
  /** All headers, for a method that asks for them. */
  readonly header: () => Headers;
  /** How the gate waits for a key that the store is asked for. */
  readonly wait: KeyLookupWait;
  /** Reads the body whole; rejects with Connect's error. */
  readonly read: () => Promise<Uint8Array>;
  /** Ends the call. HTTP does it when the caller has gone. */
  readonly ending: AbortController;
};

/** What a call is answered with; `header` has the headers where its method adds to them, undefined where it does not. */
export type UnaryOutcome = { readonly header: Headers | undefined } & (
  | { readonly answer: Answer; readonly error?: undefined }
  | { readonly error: WireError }
);

/** Takes a call from its gate to its outcome. Never rejects. */
export type UnaryCall = (arrived: ArrivedCall) => Promise<UnaryOutcome>;

/** What the unary calls of a node share: the parts before and behind their methods. */
export type UnaryParts = Required<Pick<ConnectRouterOptions, "jsonOptions" | "maxTimeoutMs" | "shutdownSignal">> & {
  readonly admit: Gate;
  readonly outgoing: OutgoingError;
  readonly write: WriteAnswer;
};

/** One method as a service implements it; `readMaxBytes` bounds its requests. */
export type UnaryMethod = {
  readonly desc: DescMethodUnary;
  readonly implementation: (request: Message, context: HandlerContext) => unknown;
  readonly readMaxBytes: number;
};

/**
 * Makes the way of unary calls, which answer as Connect's handlers would, byte for byte: what those make for each call for the sake
 * of streams, of other runtimes and of other protocols (headers copied thrice, four signals, iterators) is half of what a small call costs.
 */
export function createUnaryCalls(parts: UnaryParts): (method: UnaryMethod) => UnaryCall {
  const { shutdownSignal } = parts;
  const underWay = new Set<AbortController>();
  const endAll = () => {
    for (const ending of underWay) ending.abort(shutdownSignal.reason);
  };
  shutdownSignal.addEventListener("abort", endAll, { once: true });
  return (method) => {
    const serve = createServing(parts, method);
    return async (arrived) => {
      const { ending } = arrived;
      const timeout = parseTimeout(arrived.timeout, parts.maxTimeoutMs);
      const stopDeadline = startDeadline(timeout.timeoutMs, ending);
      if (shutdownSignal.aborted) ending.abort(shutdownSignal.reason);
      underWay.add(ending);
      const context = new UnaryContext(method.desc, arrived, timeout.timeoutMs);
      try {
        return { answer: await serve(arrived, context, timeout.error), header: context.addedHeader() };
      } catch (error) {
        ending.abort(error);
        return { error: toWireError(error), header: context.addedHeader() };
      } finally {
        stopDeadline();
        underWay.delete(ending);
        ending.abort(answered);
      }
    };
  };
}

/** Why the signal of a call that is answered is aborted; made once, since its stack costs more than the rest of an end. */
const answered = new DOMException("This operation was aborted", "AbortError");

function startDeadline(timeoutMs: number | undefined, ending: AbortController): () => void {
  if (timeoutMs === undefined) return () => {};
  const end = () => ending.abort(timedOut());
  if (timeoutMs <= 0) end();
  const timer = timeoutMs <= 0 ? undefined : setTimeout(end, timeoutMs);
  return () => clearTimeout(timer);
}

/** In the order of Connect's handler: gate, headers, body, decoding, and then what its interceptors do. */
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
    if (principal !== undefined) context.values.set(principalContext, principal);
    const { error } = compressionNegotiate([compressionGzip], arrived.encoding, null, "accept-encoding");
    if (error !== undefined) throw error;
    if (timeoutError !== undefined) throw timeoutError;
    const request = serialization.getI(!isJson).parse(await arrived.read());
    const { signal, values } = context;
    const written = await withSignal(perform(request, arrived, context), signal).catch((error: unknown) => {
      throw outgoing(error, { signal, contextValues: values });
    });
    return "$typeName" in written ? binaryAnswer(serialization.getO(true).serialize(written)) : written;
  };
}

function binaryAnswer(bytes: Uint8Array<ArrayBuffer>): Answer {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { body, gzip: async () => Buffer.from(await compressionGzip.compress(bytes)) };
}

/** What a method is told of its call, as Connect tells it. What few methods ask for is made when it is asked for. */
class UnaryContext implements HandlerContext {
  readonly method: DescMethodUnary;
  readonly service: HandlerContext["service"];
  readonly signal: AbortSignal;
  readonly values: ContextValues;
  readonly requestMethod = "POST";
  readonly protocolName = "connect";
  /** Without a `this`: methods take it out of their context. */
  readonly timeoutMs: () => number | undefined;
  readonly #arrived: ArrivedCall;
  #requestHeader: Headers | undefined;
  #responseHeader: Headers | undefined;
  #responseTrailer: Headers | undefined;

  constructor(method: DescMethodUnary, arrived: ArrivedCall, timeoutMs: number | undefined) {
    this.method = method;
    this.service = method.parent;
    this.signal = arrived.ending.signal;
    this.values = createContextValues().set(callContext, arrived.call);
    this.#arrived = arrived;
    const beganMs = performance.now();
    this.timeoutMs = () => (timeoutMs === undefined ? undefined : beganMs + timeoutMs - performance.now());
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

  /** What the method set of the answer's headers, its trailers among them as the protocol has it; undefined for nothing. */
  addedHeader(): Headers | undefined {
    if (this.#responseHeader === undefined && this.#responseTrailer === undefined) return undefined;
    return trailerMux(this.responseHeader, this.responseTrailer);
  }
}
