import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import type { Clock } from "@svc/core";
import { callUnknown, requestMalformed, shuttingDown } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { answerError, jsonOptions, splitTarget } from "./answer.ts";
import { type McpHandler, mcpPath } from "./mcp.ts";
import type { PageHandler } from "./pages.ts";
import type { ProbeHandler } from "./probes.ts";
import type { RpcHandler } from "./rpc.ts";
import { type WebhookHandler, webhookPrefix } from "./webhooks.ts";

/** How long a client may take, milliseconds. */
export type HttpTimeouts = {
  /** To send its headers. Default 10 s. */
  headersMs?: number;
  /** To send a whole request. Default 60 s. */
  requestMs?: number;
  /** Between two requests of a connection. Default 75 s, longer than the 60 s of common load balancers. */
  keepAliveMs?: number;
  /** Between two looks for clients that are late. Default 2 s. */
  checkMs?: number;
};

/** What the HTTP server serves. */
export type HttpServerOptions = {
  /** Undefined on a node of another role: such paths are unknown to it. */
  webhooks: WebhookHandler | undefined;
  rpc: RpcHandler;
  probes: ReadonlyMap<string, ProbeHandler>;
  /** What a person's browser opens on the way to a connected account. */
  pages: ReadonlyMap<string, PageHandler>;
  /** Undefined on a node of another role. */
  mcp: McpHandler | undefined;
  isDraining: () => boolean;
  clock: Clock;
  logger: Logger;
  timeouts?: HttpTimeouts | undefined;
  /** Connections at once; what comes beyond them is cut off. Default 10,000: at 16 KiB of headers each, 160 MiB. */
  connectionsMax?: number;
};

/** One listening server. */
export type HttpServer = {
  listen(address: { host: string; port: number }): Promise<AddressInfo>;
  /** Accepts nothing more; resolves when every request is answered, or at the end of the grace, which breaks what is left. */
  close(graceMs: number): Promise<void>;
};

/** Makes the HTTP server: paths to their handlers, unknown ones and broken requests to answers of their own. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { headersMs = 10_000, requestMs = 60_000, keepAliveMs = 75_000, checkMs = 2_000 } = options.timeouts ?? {};
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: checkMs,
    maxHeaderSize: 16_384,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  });
  server.maxConnections = options.connectionsMax ?? 10_000;
  server.on("request", (req, res) => route(options, req, res));
  server.on("clientError", answerClientError);
  return {
    listen: (address) => listen(server, address),
    close: (graceMs) => close(server, graceMs, options.clock),
  };
}

const stoppingHeaders = { connection: "close", "retry-after": "1" };

function route(options: HttpServerOptions, req: IncomingMessage, res: ServerResponse): void {
  // A connection that breaks while it is answered is its client's business.
  res.on("error", ignore);
  const { path, query } = splitTarget(req);
  try {
    const probe = options.probes.get(path);
    if (probe !== undefined) probe(req, res);
    else if (options.isDraining()) answerError(res, shuttingDown(), undefined, stoppingHeaders);
    else if (options.pages.has(path)) options.pages.get(path)?.(req, res);
    else if (options.mcp !== undefined && path === mcpPath) options.mcp(req, res);
    else if (options.webhooks !== undefined && path.startsWith(webhookPrefix)) options.webhooks(path, query, req, res);
    else if (options.rpc.handles(path)) options.rpc.serve(path, req, res);
    else answerError(res, callUnknown(path), 404);
  } catch (error) {
    options.logger.error({ err: error, path }, "request could not be routed");
    res.destroy();
  }
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: 1_024 }, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

async function close(server: Server, graceMs: number, clock: Clock): Promise<void> {
  const closed = once(server, "close");
  const done = new AbortController();
  server.close(() => done.abort());
  const until = clock.now() + graceMs;
  // A connection that was busy at close() stays open when its request ends, until it is closed as an idle one.
  while (!done.signal.aborted && clock.now() < until) {
    server.closeIdleConnections();
    await clock.wait(Math.min(25, graceMs), done.signal);
  }
  server.closeAllConnections();
  await closed;
}

const clientErrors: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
};

/** What is not HTTP, or comes too late or too large, is told so and cut off. */
function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket & { _httpMessage?: ServerResponse | null },
): void {
  if (error.code === "ECONNRESET" || !socket.writable || socket._httpMessage?.headersSent === true) {
    socket.destroy();
    return;
  }
  const status = clientErrors[error.code ?? ""] ?? "400 Bad Request";
  const body = JSON.stringify(
    errorToJson(requestMalformed({ message: `the request is not answered: ${status.slice(4)}` }), jsonOptions),
  );
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function ignore(): void {}
