import { beginSpan, isObject, type SpanStart, spanned } from "@svc/core";
import { readAddress } from "./address.ts";
import { type McpMessage, type McpMessages, type NoMessages, readMessages } from "./messages.ts";
import type { McpOffer } from "./offer.ts";
import type { McpAnswer, McpHeaders, McpRequest } from "./request.ts";
import { olderRevision } from "./revision-2025-11-25.ts";
import { metaKeys, newerRevision } from "./revision-2026-07-28.ts";
import { joinOffers, type RevisionCarrier, type ServedProtocol, type ServerInfo, serverInfo } from "./served.ts";
import { isNewerVersion, isOlderVersion, spokenVersions } from "./versions.ts";

/**
 * True if the newer MCP revision must handle a POST, false for an older one. The first rule that applies decides:
 * - A message names a protocol version: this version decides.
 * - A message is the handshake `initialize`: false.
 * - The header names a protocol version: this version decides.
 * - Otherwise: false.
 */
function isNewer(read: McpMessages | NoMessages, { version }: McpHeaders): boolean {
  const messages = "error" in read ? [] : read.messages;
  const claims = messages.flatMap((message) => claimOf(message) ?? []);
  // A handshake (`initialize`) belongs to the older revision, which then chooses a version. Exception: the message itself names the newer
  // revision.
  if (messages.some((message) => message.kind === "request" && message.method === "initialize"))
    return claims.some(isNewerVersion);
  if (claims.length > 0) return claims.some((claim) => !isOlderVersion(claim));
  return version !== undefined && !isOlderVersion(version);
}

/**
 * Returns the protocol version that one message names in `_meta`. Only clients of the newer protocol revision set this field. Undefined if
 * the message is a response or has no such field.
 */
function claimOf(message: McpMessage): unknown {
  if (message.kind === "response" || !isObject(message.params["_meta"])) return undefined;
  return message.params["_meta"][metaKeys.version];
}

/** Serves MCP over Streamable HTTP without sessions: each POST is independent of all others. */
export type McpServer = {
  /** Name, title and version of the server, as clients see them. */
  readonly info: ServerInfo;
  /** Supported versions of the protocol, the latest first. */
  readonly versions: readonly string[];
  /**
   * Answers a POST. If the signal of the request is aborted first, rejects with the signal's reason. If the database is unavailable,
   * rejects with the error `unavailable`.
   */
  serve(request: McpRequest): Promise<McpAnswer>;
};

/** Options of an MCP server. */
type McpServerOptions = {
  /** Version of the server that clients see, not of the protocol. */
  readonly version: string;
  readonly offers: readonly McpOffer[];
};

/**
 * Creates an MCP server from groups of features (`offers`). The server answers each client in the protocol revision that the client uses.
 */
export function createMcpServer({ version, offers }: McpServerOptions): McpServer {
  const servedBy = (carrier: RevisionCarrier) => ({ carrier, served: joinOffers(version, offers, carrier) });
  const [newer, older] = [servedBy(newerRevision), servedBy(olderRevision)];
  return {
    info: serverInfo({ version }),
    versions: spokenVersions,
    async serve({ body, query, onLabel, ...request }) {
      const read = readMessages(body);
      const { carrier, served } = isNewer(read, request.headers) ? newer : older;
      const label = labelOf(read, served);
      onLabel(label);
      if ("error" in read) return carrier.faultOf(read.error, read.id);
      const address = readAddress(query);
      const span = beginSpan(requestSpan, { read, label, version: request.headers.version });
      const answer = () => carrier.answer(read, { ...request, served, address });
      return spanned(
        span,
        () => within(request.signal, answer),
        ({ status }) => (status >= 400 ? String(status) : undefined),
      );
    },
  };
}

/**
 * Returns the result of the work. If the signal is aborted first, rejects with the signal's reason and ignores a later failure of the work.
 */
async function within<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Describes the span of a request, with the names that OpenTelemetry gives to MCP. It continues the trace that the client names in `_meta`.
 * The requests of a batch share a span.
 */
function requestSpan({ read, label, version }: McpPost): SpanStart {
  const [message] = read.messages;
  const meta = message === undefined || message.kind === "response" ? undefined : message.params["_meta"];
  const given = isObject(meta) && !read.isBatch ? meta["traceparent"] : undefined;
  const method = message !== undefined && "method" in message && label !== "other" ? message.method : label;
  // The header may have any text, and a span has only words of fixed sets.
  const known = spokenVersions.find((spoken) => spoken === version);
  const facts = { "mcp.method.name": read.isBatch ? label : method, "mcp.protocol.version": known };
  const parent = typeof given === "string" ? given : null;
  return { name: `mcp ${label}`, kind: "server", parent, facts: { ...facts, "network.transport": "tcp" } };
}

/** A POST with valid messages. `label`: its kind, for logs and metrics. `version`: the header with the version of the protocol. */
type McpPost = { readonly read: McpMessages; readonly label: string; readonly version: string | undefined };

/**
 * Returns the kind of a request for logs and metrics, for example the name of a method. There is only a fixed set of kinds, so that metrics
 * have few labels.
 */
function labelOf(read: McpMessages | NoMessages, { methods }: ServedProtocol): string {
  if ("error" in read) return "other";
  if (read.isBatch) return "batch";
  const [message] = read.messages;
  if (message === undefined || message.kind === "response") return "other";
  if (message.kind === "notification") return "notification";
  const method = methods.get(message.method);
  if (method === undefined) return "other";
  return method.labelOf?.(message.params) ?? message.method;
}
