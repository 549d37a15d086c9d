import { isIP, type Socket } from "node:net";
import { Agent, buildConnector, Client, type Dispatcher, Pool } from "undici";
import { type AddressGuard, AddressRefusedError } from "./address-guard.ts";
import { createGuardedLookup, type ResolveName } from "./guarded-lookup.ts";

/**
 * The connection of a request. `remoteAddress`: the connected IP address, or the last address that was tried; undefined before the first
 * try.
 */
export type Connection = { readonly remoteAddress: string | undefined };

/** Holder for the connection of one request. The caller creates it; the agent sets `connection` when the request gets a connection. */
export type Route = { connection?: Connection };

/** Request options with a `route`. Read `route.connection` in the response handlers, or after the request has failed. */
export type WithRoute<Options extends Dispatcher.DispatchOptions> = Options & { route?: Route };

/**
 * An undici Agent that connects only to addresses that the guard allows, and reports the connection of each request. It follows no
 * redirects.
 */
export type GuardedAgent = Agent & {
  dispatch(options: WithRoute<Agent.DispatchOptions>, handler: Dispatcher.DispatchHandler): boolean;
  request(options: WithRoute<Dispatcher.RequestOptions>): Promise<Dispatcher.ResponseData>;
};

/** Settings of a guarded agent. Times are in milliseconds; undici changes times above a second by up to half a second. */
export type GuardedAgentOptions = {
  guard: AddressGuard;
  /** Maximum connections per origin. Further requests wait for a free connection. */
  connections: number;
  /** Maximum total time for name resolution, connection and TLS. */
  connectTimeoutMs: number;
  /** Maximum time from the end of the request to the last response header. */
  headersTimeoutMs: number;
  /** Maximum pause between two parts of a response body. */
  bodyTimeoutMs: number;
  /** Time for which an idle connection stays open, unless the server requests another time. Default 4000. */
  keepAliveMs?: number;
  /** Maximum time for which an idle connection stays open if the server requests a time. Default 600000. */
  keepAliveMaxMs?: number;
  /** Maximum response body in bytes. A request with a larger response fails. Default: no limit. */
  responseBytesMax?: number;
  /** Resolves names. Default: the system's resolver. */
  resolve?: ResolveName;
};

/**
 * Maximum total bytes of header names and values in a response, more than twelve of the largest cookies. A request with more response
 * headers fails.
 */
export const answerHeaderBytesMax = 262_144;

/**
 * Creates an agent for HTTP/1.1. It keeps one pool of open connections per origin, and sends one request at a time on each connection. If
 * the guard refuses an address, the request fails with AddressRefusedError before the agent tries to connect.
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
  // The connector returns its socket (lib/core/connect.js), but undici's types do not show this.
  const dial = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup: createGuardedLookup(guard, resolve),
  }) as Connector;
  return (target, callback) => {
    // A socket does not look up an IP address, so the guard must check it here.
    const decision = isIP(target.hostname) === 0 ? undefined : guard.judge(target.hostname);
    if (decision === undefined || decision.allowed) return dial(target, callback);
    const refusal = new AddressRefusedError(target.hostname, decision.range, target.hostname);
    queueMicrotask(() => callback(refusal, null));
    return undefined;
  };
}

/**
 * A client with a single connection, which records the remote address for each request. undici 8 passes no socket to request handlers, and
 * its diagnostics channel serves the whole process. If a name has two addresses, the last connected one could be wrong. A client has one
 * socket and sends one request at a time (no pipelining), so the recorded connection is exact and costs one assignment.
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
        // The socket emits this event for every address that it tries. The last of these addresses is the connected one.
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
