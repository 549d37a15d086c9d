import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@svc/core";
import { clientDocumentsPath, inboxPrefix } from "@svc/node";
import { discardBody, hasBody, mayBeLarge, watchChunks } from "../body/body.ts";
import type { Console } from "../console/console.ts";
import { isConsolePath } from "../console/headers.ts";
import { type Docs, isDocsPath } from "../docs/docs.ts";
import { serverFaults } from "../errors.ts";
import { answerError, splitTarget } from "../http/answer.ts";
import type { McpHandler } from "../http/mcp.ts";
import { mcpPath } from "../http/mcp-path.ts";
import { type WebhookHandler, webhookPrefix } from "../http/webhooks.ts";
import type { Logger } from "../logger.ts";
import type { PageHandler } from "../pages/pages.ts";
import type { ProbeHandler } from "../pages/probes.ts";
import type { RpcHandler } from "../rpc/rpc.ts";
import { createClientErrorHandler } from "./client-error.ts";
import type { Connections } from "./connections.ts";
import type { Door } from "./door.ts";
import type { Tls } from "./tls.ts";

/** Timeouts for clients in milliseconds. */
export type HttpTimeouts = {
  /** Maximum time for sending the headers. Default 10 s. */
  headersMs?: number;
  /** Maximum time for sending a whole request. Default 60 s. */
  requestMs?: number;
  /** Maximum time between two requests of a connection. Default 75 s, longer than the 60 s of common load balancers. */
  keepAliveMs?: number;
  /** Interval in milliseconds at which the server looks for clients that send their request too slowly. Default 2 s. */
  checkMs?: number;
};

/** Options of the HTTP server. */
export type HttpServerOptions = {
  /** Checks every request before a handler runs. */
  door: Door;
  /** TLS certificate of the server. If undefined, the server uses plain HTTP. */
  tls?: Tls | undefined;
  /** Handler of webhook posts. Undefined if this node does not serve webhooks; it then answers such paths as unknown. */
  webhooks: WebhookHandler | undefined;
  rpc: RpcHandler;
  probes: ReadonlyMap<string, ProbeHandler>;
  /** Pages that a person's browser opens to connect an account. */
  pages: ReadonlyMap<string, PageHandler>;
  /** Handler of MCP requests. Undefined if this node takes no API calls (role `worker`). */
  mcp: McpHandler | undefined;
  /** The console. Undefined if the configuration disables it, or if this node's role does not serve it (for example a worker). */
  console: Console | undefined;
  /** The documentation. Undefined if the configuration disables it, or if this node takes no API calls (role `worker`). */
  docs: Docs | undefined;
  isDraining: () => boolean;
  clock: Clock;
  logger: Logger;
  timeouts?: HttpTimeouts | undefined;
  connections: Connections;
};

type ListenOptions = { host: string; port: number; reusePort?: boolean };

/** The HTTP server of one process: accepts connections, and answers their requests until it is closed. */
export type HttpServer = {
  /**
   * Starts to listen and returns the address. With `reusePort`, several processes of the same operating system user share the port. The
   * operating system distributes the connections.
   */
  listen(address: ListenOptions): Promise<AddressInfo>;
  /**
   * Stops accepting connections. Resolves when every request is answered, or at the end of the grace period; connections that are still
   * open are then closed.
   */
  close(graceMs: number): Promise<void>;
};

/** Creates an HTTP server. It passes each path to its handler, and answers unknown paths and invalid requests itself. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { headersMs = 10_000, requestMs = 60_000, keepAliveMs = 75_000, checkMs = 2_000 } = options.timeouts ?? {};
  const settings = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkMs,
    maxHeaderSize: 16_384,
    // The door refuses requests without a Host header, so that this refusal has a body like every other.
    requireHostHeader: false,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  };
  const { connections } = options;
  const server = options.tls?.createServer(settings) ?? createServer(settings);
  // The total size of the headers is limited already. This setting removes Node's limit on their number (2,000), because Node would
  // silently drop the headers above it.
  server.maxHeadersCount = 0;
  server.on("connection", (socket) => connections.accept(socket, options.tls !== undefined));
  server.on("secureConnection", (socket) => connections.secure(socket));
  const serve = (req: IncomingMessage, res: ServerResponse) => {
    if (!connections.noteRequest(req.socket)) return;
    if (req.headers["transfer-encoding"] !== undefined) watchChunks(req, () => connections.punish(req.socket));
    if (mayBeLarge(req)) {
      // The answer has been written, so request data that was not read until now is no longer needed. It is read and discarded.
      res.once("prefinish", () => {
        if (!req.complete) discardBody(req);
      });
    }
    route(options, req, res);
  };
  server.on("request", serve);
  // For an unknown Expect header, Node would answer with 417 itself. That answer would skip the checks of every request and would lack the
  // headers of the path.
  server.on("checkExpectation", serve);
  server.on("clientError", createClientErrorHandler());
  return {
    listen: (address) => listen(server, address),
    close: (graceMs) => close(server, graceMs, options),
  };
}

const stoppingHeaders = { connection: "close", "retry-after": "1" };

function route(options: HttpServerOptions, req: IncomingMessage, res: ServerResponse): void {
  // If the connection breaks while an answer is being written, only the client is affected.
  res.on("error", ignore);
  const { path, query } = splitTarget(req);
  const pages = isConsolePath(path) ? options.console : isDocsPath(path) ? options.docs : undefined;
  pages?.setHeaders(res);
  try {
    const refusal = options.door(req, path);
    const probe = options.probes.get(path);
    const page = options.pages.get(pageOf(path));
    // The handlers of these requests do not read a body, and some answers take time. So the body is discarded now. A sandbox inbox shows it.
    const isUnread = probe !== undefined || (req.method === "GET" && !path.startsWith(inboxPrefix));
    if (isUnread && hasBody(req)) discardBody(req);
    if (refusal !== undefined) answerError(res, refusal.error, refusal.status, refusal.headers);
    else if (probe !== undefined) probe(req, res);
    else if (options.isDraining()) answerError(res, serverFaults.SHUTTING_DOWN(), undefined, stoppingHeaders);
    else if (pages !== undefined) pages.serve(path, req, res);
    else if (path === "/" && options.console?.welcome(req, res)) return;
    else if (page !== undefined) page(req, res);
    else if (options.mcp !== undefined && path === mcpPath) options.mcp(query, req, res);
    else if (options.webhooks !== undefined && path.startsWith(webhookPrefix)) options.webhooks(path, query, req, res);
    else if (options.rpc.handles(path)) options.rpc.serve(path, req, res);
    else answerError(res, serverFaults.CALL_UNKNOWN(path), 404);
  } catch (error) {
    options.logger.error({ err: error, path }, "request could not be routed");
    res.destroy();
  }
}

/**
 * Returns the path by which the page of a path is known: many client documents, many sandbox inboxes, and many callback addresses, share a
 * page.
 */
function pageOf(path: string): string {
  if (path.startsWith(clientDocumentsPath)) return clientDocumentsPath;
  if (path.startsWith(inboxPrefix)) return inboxPrefix;
  return /^\/oauth\/callback\/[0-9a-f]{16}$/.test(path) ? "/oauth/callback" : path;
}

function listen(server: Server, { host, port, reusePort = false }: ListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, reusePort, backlog: 1_024 }, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

async function close(
  server: Server,
  graceMs: number,
  { clock, connections }: Pick<HttpServerOptions, "clock" | "connections">,
): Promise<void> {
  const closed = once(server, "close");
  const done = new AbortController();
  server.close(() => done.abort());
  const until = clock.now() + graceMs;
  // A connection with a request in progress stays open at `server.close()`. After its request has ended, the connection is idle. So idle
  // connections are closed repeatedly until all are closed.
  while (!done.signal.aborted && clock.now() < until) {
    server.closeIdleConnections();
    connections.endUnasked();
    await clock.wait(Math.min(25, graceMs), done.signal);
  }
  server.closeAllConnections();
  await closed;
}

function ignore(): void {}
