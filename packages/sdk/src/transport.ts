import type { DescMessage, Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { checkRequest, nearestName } from "./check-request.ts";
import { addToJson } from "./json.ts";
import { createReadRetry } from "./retry.ts";

/**
 * Default timeout of a call in milliseconds. It is longer than the 30 s that the service gives an app for an answer, so that the service
 * can report if a tool call was executed.
 */
const defaultTimeoutMs = 45_000;

/** Options of a client's connection, for any kind of credential. */
export type ConnectionOptions = {
  /** Address of the service, such as `http://127.0.0.1:8080` for a local one. A path is kept as a prefix. */
  baseUrl: string;
  /** Function that sends the requests. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /**
   * Maximum duration of a call in milliseconds, including its retries; 0 means no limit. Default 45,000, which is longer than an app may
   * take to answer a tool call. With a shorter timeout, such a call may fail with `deadline_exceeded`, and its outcome is then unknown.
   * Streams have no default limit.
   */
  timeoutMs?: number;
  /** Interceptors, called for every attempt of a call; the first one is the outermost. Use them for logs, traces and headers. */
  interceptors?: readonly Interceptor[];
};

/**
 * Returns a transport that sends calls with `fetch`, in the JSON format of the Connect protocol, with `bearer` as the credential. Throws a
 * TypeError for invalid options.
 */
export function createSvcTransport(options: ConnectionOptions, bearer: string): Transport {
  checkNames(options);
  const baseUrl = checkedBaseUrl(options.baseUrl);
  const transport = createConnectTransport({
    baseUrl,
    defaultTimeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    interceptors: [createReadRetry(), ...(options.interceptors ?? []), present(bearer), nameNetworkFaults(baseUrl)],
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  return {
    async unary(method, signal, timeoutMs, header, input, contextValues) {
      checkRequest(method.input, input);
      const response = await transport.unary(method, signal, timeoutMs, header, input, contextValues);
      addToJson(method.output, response.message);
      return response;
    },
    async stream(method, signal, timeoutMs, header, input, contextValues) {
      const checked = checkedRequests(method.input, input);
      // A stream has no timeout (0 means no limit), because a watched job may run for days. The stream ends when the caller ends it.
      const response = await transport.stream(method, signal, timeoutMs ?? 0, header, checked, contextValues);
      return { ...response, message: withToJson(method.output, response.message) };
    },
  };
}

async function* checkedRequests<T>(desc: DescMessage, requests: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const request of requests) {
    checkRequest(desc, request);
    yield request;
  }
}

async function* withToJson<T extends Message>(desc: DescMessage, messages: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const message of messages) {
    addToJson(desc, message);
    yield message;
  }
}

const optionNames = ["baseUrl", "apiKey", "adminToken", "fetch", "timeoutMs", "interceptors"];

/**
 * Throws a TypeError for an option with an unknown name. Without this check, a misspelt option of untyped code would have no effect and no
 * error.
 */
function checkNames(options: object): void {
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown === undefined) return;
  const near = nearestName(unknown, optionNames);
  throw new TypeError(
    `option ${JSON.stringify(unknown)} is unknown${near === undefined ? "" : `: did you mean ${near}?`}`,
  );
}

function checkedBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new TypeError(`baseUrl ${JSON.stringify(baseUrl)}: expected an absolute http or https URL`);
  }
  return baseUrl;
}

function present(bearer: string): Interceptor {
  return (next) => (req) => {
    req.header.set("Authorization", `Bearer ${bearer}`);
    return next(req);
  };
}

/**
 * Returns an interceptor for network failures. fetch reports an unreachable service or a lost connection as a TypeError; callers get the
 * code `unavailable` instead.
 */
function nameNetworkFaults(baseUrl: string): Interceptor {
  return (next) => async (req) => {
    try {
      return await next(req);
    } catch (err) {
      if (!(err instanceof TypeError) || req.signal.aborted) throw err;
      const message = `cannot reach ${baseUrl}: ${networkFault(err)}`;
      throw new ConnectError(message, Code.Unavailable, undefined, undefined, err);
    }
  };
}

/** Returns the text of a network failure. Node gives the reason (such as `ECONNREFUSED`) as the error's cause; browsers give no reason. */
function networkFault(err: TypeError): string {
  const { cause } = err;
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message;
  return err.message;
}

/** One fault for which svc refused a call. */
export type SvcErrorDetail = {
  /** A stable name of the fault in UPPER_SNAKE_CASE, for programs to branch on. */
  reason: string;
  /** The faulty request field, by its JSON name. Empty if the fault is not in a single field. */
  field: string;
  /** How to correct the fault. Empty if the error's message already says this. */
  help: string;
};

/**
 * Returns the faults in an error of a call, in the service's order. Returns an empty list for any other error, such as a network failure.
 */
export function svcErrorDetails(err: unknown): SvcErrorDetail[] {
  if (!(err instanceof ConnectError)) return [];
  return err.findDetails(ErrorDetailSchema).map(({ reason, field, help }) => ({ reason, field, help }));
}
