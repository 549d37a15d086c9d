import { isIP, type Socket } from "node:net";
import { Agent, buildConnector, Client, type Dispatcher, Pool } from "undici";
import { type AddressGuard, AddressRefusedError } from "./address-guard.ts";
import { createGuardedLookup, type ResolveName } from "./guarded-lookup.ts";

/** The connection of a request. `remoteAddress` is its address, or the last one tried; undefined before the first. */
export type Connection = { readonly remoteAddress: string | undefined };

/** Created by the caller, one per request; the agent fills it when the request gets its connection. */
export type Route = { connection?: Connection };

/** Request options with a field for the route. Read it in the response handlers, or after the request has failed. */
export type WithRoute<Options extends Dispatcher.DispatchOptions> = Options & { route?: Route };

/** An undici Agent that dials only guarded addresses and reports the route of a request. It follows no redirects. */
export type GuardedAgent = Agent & {
  dispatch(options: WithRoute<Agent.DispatchOptions>, handler: Dispatcher.DispatchHandler): boolean;
  request(options: WithRoute<Dispatcher.RequestOptions>): Promise<Dispatcher.ResponseData>;
};

/** Settings of a guarded agent; times in milliseconds. undici rounds times above a second by up to half a second. */
export type GuardedAgentOptions = {
  guard: AddressGuard;
  /** Maximum connections per origin; further requests wait. */
  connections: number;
  /** Maximum time for name resolution, connection and TLS together. */
  connectTimeoutMs: number;
  /** Maximum time from the end of the request to the last response header. */
  headersTimeoutMs: number;
  /** Maximum pause between two parts of a response body. */
  bodyTimeoutMs: number;
  /** Time that an idle connection is kept, unless the server says otherwise. Default 4000. */
  keepAliveMs?: number;
  /** Maximum time that an idle connection is kept if the server requests it. Default 600000. */
  keepAliveMaxMs?: number;
  /** Maximum response body in bytes; a larger one fails the request. Default: no limit. */
  responseBytesMax?: number;
  /** Resolves names instead of the system's resolver. */
  resolve?: ResolveName;
};

/** Maximum bytes of header names and values in a response: more than twelve of the largest cookies. A larger header fails the request. */
export const answerHeaderBytesMax = 262_144;

/**
 * Creates an agent with one keep-alive pool per origin, HTTP/1.1, and one request at a time per connection. A refused address fails the
 * request with AddressRefusedError before a connection is attempted.
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
    // Sockets do no lookup for a literal address, so it is checked here.
    const decision = isIP(target.hostname) === 0 ? undefined : guard.judge(target.hostname);
    if (decision === undefined || decision.allowed) return dial(target, callback);
    const refusal = new AddressRefusedError(target.hostname, decision.range, target.hostname);
    queueMicrotask(() => callback(refusal, null));
    return undefined;
  };
}

/**
 * A client of one connection that records the remote address. undici 8 passes no socket to request handlers, and its diagnostics channel is
 * process-wide. The last address of an origin is a guess if a name has two. A client has one socket and, without pipelining, one request at
 * a time, so a reference to its connection is exact and costs one assignment.
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
        // Emitted for every address tried; the last one is connected.
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
