import type { DescMessage, Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { checkRequest, nearestName } from "./check-request.ts";
import { createReadRetry } from "./retry.ts";
import { addToJson } from "./stringify.ts";

/** Longer than the 30 s that the service gives an app: whether a call was executed is told by the service, not guessed here. */
const defaultTimeoutMs = 45_000;

/** How a client reaches the service, whatever it authenticates with. */
export type ConnectionOptions = {
  /** Address of the service, `http://127.0.0.1:8080` for one started locally. A path is kept as a prefix. */
  baseUrl: string;
  /** What sends the requests. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /**
   * Most milliseconds a call may take, its retries included; 0 is no limit. Default 45,000, longer than an app gets to answer a tool
   * call: with less such a call may end as `deadline_exceeded`, without its outcome. Streams have none of their own.
   */
  timeoutMs?: number;
  /** Called around every attempt, the first of them outermost, for logs, traces and headers. */
  interceptors?: readonly Interceptor[];
};

/** A transport that speaks Connect's JSON over fetch and presents `bearer`. Throws a TypeError for options that cannot work. */
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
      // A watched job may run for days: a stream ends when its caller says so (a timeout of 0 is none).
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

/** An option that does not exist would be ignored: code without types learns of it here. */
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

/** fetch reports that it could not reach the service, or lost it, as a TypeError: for a caller that is `unavailable`. */
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

/** Node puts what happened (`ECONNREFUSED`) under the error's cause; browsers tell nothing. */
function networkFault(err: TypeError): string {
  const { cause } = err;
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message;
  return err.message;
}
