import { isIP, type Socket } from "node:net";
import { Agent, buildConnector, Client, type Dispatcher, Pool } from "undici";
import { type AddressGuard, AddressRefusedError } from "./address-guard.ts";
import { createGuardedLookup, type ResolveName } from "./guarded-lookup.ts";

/** The connection a request was given. `remoteAddress` is the address it leads to, or last tried; undefined until one is dialled. */
export type Connection = { readonly remoteAddress: string | undefined };

/** Made by the caller, one per request, and filled by the agent when the request gets its connection. */
export type Route = { connection?: Connection };

/** Request options with a place for the route. Read it in the response handlers, or when the request has failed. */
export type WithRoute<Options extends Dispatcher.DispatchOptions> = Options & { route?: Route };

/** An undici Agent that dials guarded addresses only and reports the route of a request. It follows no redirects. */
export type GuardedAgent = Agent & {
  dispatch(options: WithRoute<Agent.DispatchOptions>, handler: Dispatcher.DispatchHandler): boolean;
  request(options: WithRoute<Dispatcher.RequestOptions>): Promise<Dispatcher.ResponseData>;
};

/** Settings of a guarded agent; times in milliseconds. undici rounds times above a second by up to half a second. */
export type GuardedAgentOptions = {
  guard: AddressGuard;
  /** Most connections per origin; requests beyond wait in line. */
  connections: number;
  /** Longest wait for name, connection and TLS together. */
  connectTimeoutMs: number;
  /** Longest wait from the request sent to the last response header. */
  headersTimeoutMs: number;
  /** Longest pause between two parts of a response body. */
  bodyTimeoutMs: number;
  /** How long an idle connection is kept, unless the server says otherwise. Default 4000. */
  keepAliveMs?: number;
  /** Longest that an idle connection is kept when the server says otherwise. Default 600000. */
  keepAliveMaxMs?: number;
  /** Largest response body; a larger one fails the request. Default: no limit. */
  responseBytesMax?: number;
  /** Resolves names in place of the system's resolver. */
  resolve?: ResolveName;
};

/** Bytes of header names and values that an answer may have: twelve of the largest cookies, and more. A larger one fails the request. */
export const answerHeaderBytesMax = 262_144;

/**
 * Makes an agent with one keep-alive pool per origin, HTTP/1.1, one request at a time on a connection. A refused
 * address fails the request with AddressRefusedError before anything is dialled.
 */
export function createGuardedAgent(options: GuardedAgentOptions): GuardedAgent {
  const connect = createGuardedConnector(options);
  const settings: Client.Options = {
    allowH2: false,
    pipelining: 1,
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    maxHeaderSize: answerHeaderBytesMax,
    maxResponseSize: options.responseBytesMax ?? -1,
    ...(options.keepAliveMs === undefined ? {} : { keepAliveTimeout: options.keepAliveMs }),
    ...(options.keepAliveMaxMs === undefined ? {} : { keepAliveMaxTimeout: options.keepAliveMaxMs }),
  };
  const factory = (origin: string | URL) =>
    new Pool(origin, {
      connect,
      connections: options.connections,
      allowH2: false,
      factory: (url) => new RoutedClient(url, settings, connect),
    });
  return new Agent({ factory });
}

type Connector = (...args: Parameters<buildConnector.connector>) => Socket | undefined;

function createGuardedConnector({ guard, connectTimeoutMs, resolve }: GuardedAgentOptions): Connector {
  // undici's type hides that the connector returns its socket (lib/core/connect.js).
  const dial = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup: createGuardedLookup(guard, resolve),
  }) as Connector;
  return (target, callback) => {
    // Sockets call no lookup for a literal address, so it is judged here.
    const verdict = isIP(target.hostname) === 0 ? undefined : guard.judge(target.hostname);
    if (verdict === undefined || verdict.allowed) return dial(target, callback);
    const refusal = new AddressRefusedError(target.hostname, verdict.range, target.hostname);
    queueMicrotask(() => callback(refusal, null));
    return undefined;
  };
}

/**
 * A client of one connection that notes where it leads. undici 8 hands no socket to request handlers, its diagnostics
 * channel is one for the process, and the last address of an origin is a guess once a name has two. A client has one
 * socket and, unpipelined, one request at a time: so a reference to its connection is exact and costs one assignment.
 */
class RoutedClient extends Client {
  readonly #connection: { remoteAddress: string | undefined };

  constructor(url: URL, settings: Client.Options, connect: Connector) {
    const connection: { remoteAddress: string | undefined } = { remoteAddress: undefined };
    super(url, {
      ...settings,
      connect: (target, callback) => {
        connection.remoteAddress = undefined;
        const socket = connect(target, callback);
        // Emitted for every address tried; the last one is the one that connected.
        socket?.on("connectionAttempt", (address: string) => {
          connection.remoteAddress = address;
        });
      },
    });
    this.#connection = connection;
  }

  override dispatch(options: WithRoute<Dispatcher.DispatchOptions>, handler: Dispatcher.DispatchHandler): boolean {
    if (options.route !== undefined) options.route.connection = this.#connection;
    return super.dispatch(options, handler);
  }
}
