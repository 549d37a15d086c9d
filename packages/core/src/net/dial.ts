import { isIP, type Socket } from "node:net";
import type { Dispatcher } from "undici";
import methods from "undici/lib/api/index.js";
import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Client from "undici/lib/dispatcher/client.js";
import DispatcherBase from "undici/lib/dispatcher/dispatcher.js";
import Pool from "undici/lib/dispatcher/pool.js";
import { type AddressGuard, AddressRefusedError } from "./address-guard.ts";
import { createGuardedLookup, type ResolveName } from "./guarded-lookup.ts";

// The files above are a quarter of undici. Its index would also load mocks, caches, proxies, WebSocket and a second `fetch`, which svc does
// not use: 80 modules and 3 MB of memory. The index gives every dispatcher its methods for requests in this way.
Object.assign(DispatcherBase.prototype, methods);

/**
 * The connection that a request uses. `remoteAddress`: the IP address of the connection, or the last address tried if none answered.
 * Undefined before the first try.
 */
export type Connection = { readonly remoteAddress: string | undefined };

/**
 * Receives the connection that one HTTP request uses. The caller passes an empty object. The HTTP agent (connection pool) sets `connection`
 * in it when the request gets a connection.
 */
export type Route = { connection?: Connection };

/**
 * Options of a request, with an object `route` in which the connection used for the request is stored. Read `route.connection` when the
 * response begins or the request has failed.
 */
export type WithRoute<Options extends Dispatcher.DispatchOptions> = Options & { route?: Route };

/**
 * An undici Agent that connects only to addresses that the guard allows, and reports the connection of each request. It follows no
 * redirects.
 */
export type GuardedAgent = Agent & {
  dispatch(options: WithRoute<Agent.DispatchOptions>, handler: Dispatcher.DispatchHandler): boolean;
  request(options: WithRoute<Dispatcher.RequestOptions>): Promise<Dispatcher.ResponseData>;
};

/**
 * Settings of a GuardedAgent (an HTTP client that refuses addresses which its guard does not allow). Times are in milliseconds. The library
 * undici changes times above a second by up to half a second.
 */
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
  /** Longest time in milliseconds for which a server may ask svc to keep an idle connection open. Default 600000. */
  keepAliveMaxMs?: number;
  /** Maximum response body in bytes. A request with a larger response fails. Default: no limit. */
  responseBytesMax?: number;
  /** Function that resolves host names. Default: the resolver of the operating system. */
  resolve?: ResolveName;
};

/**
 * Maximum total bytes of header names and values in a response. Twelve cookies of the largest size that browsers accept fit into it. If a
 * response has more, the request fails.
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
  // The type assertion `as Connector` is correct: undici's connector returns its socket (lib/core/connect.js), although its types do not
  // declare this.
  const dial = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup: createGuardedLookup(guard, resolve),
  }) as Connector;
  return (target, callback) => {
    // For a host that is an IP address, the socket does not call `lookup`. So the guard must check the address here.
    const decision = isIP(target.hostname) === 0 ? undefined : guard.judge(target.hostname);
    if (decision === undefined || decision.allowed) return dial(target, callback);
    const refusal = new AddressRefusedError(target.hostname, decision.range, target.hostname);
    queueMicrotask(() => callback(refusal, null));
    return undefined;
  };
}

/**
 * A client with one connection. It records the remote address for each request, because undici 8 gives request handlers no socket. The
 * client sends one request at a time on its only socket (no pipelining), so the recorded address belongs to the request.
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
        // The socket emits this event for each address that it tries to connect to. If it connects, the last of these addresses is the one
        // that it uses.
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
