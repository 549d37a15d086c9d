import { isObject } from "@svc/core";
import { readAddress } from "./address.ts";
import { type McpMessage, type McpMessages, type NoMessages, readMessages } from "./messages.ts";
import type { McpOffer } from "./offer.ts";
import type { McpAnswer, McpHeaders, McpRequest } from "./request.ts";
import { olderRevision } from "./revision-2025-11-25.ts";
import { metaKeys, newerRevision } from "./revision-2026-07-28.ts";
import { joinOffers, type RevisionCarrier, type ServedProtocol } from "./served.ts";
import { isNewerVersion, isOlderVersion } from "./versions.ts";

/**
 * Whether a POST is to be read by the newer revision: its message says so of itself, or else its header names a version that no client
 * begins a handshake with. What says nothing is of a client that has no such words.
 */
function isNewer(read: McpMessages | NoMessages, { version }: McpHeaders): boolean {
  const messages = "error" in read ? [] : read.messages;
  const claims = messages.flatMap((message) => claimOf(message) ?? []);
  // A handshake is none of the newer revision's, unless it says that it is of that very one: it agrees on a version that is spoken.
  if (messages.some((message) => message.kind === "request" && message.method === "initialize"))
    return claims.some(isNewerVersion);
  if (claims.length > 0) return claims.some((claim) => !isOlderVersion(claim));
  return version !== undefined && !isOlderVersion(version);
}

/** The version that a message names in the place which the newer revision has for it. */
function claimOf(message: McpMessage): unknown {
  if (message.kind === "response" || !isObject(message.params["_meta"])) return undefined;
  return message.params["_meta"][metaKeys.version];
}

/** Serves MCP over Streamable HTTP, without sessions: each POST stands for itself. */
export type McpServer = {
  /** Rejects with the signal's reason, and with `unavailable` when the store is away. */
  serve(request: McpRequest): Promise<McpAnswer>;
};

/** What a server is made of. */
type McpServerOptions = {
  /** What clients are told that its version is. */
  readonly version: string;
  readonly offers: readonly McpOffer[];
};

/** Makes a server of what is offered, which answers each client in the revision that it speaks. */
export function createMcpServer({ version, offers }: McpServerOptions): McpServer {
  const servedBy = (carrier: RevisionCarrier) => ({ carrier, served: joinOffers(version, offers, carrier) });
  const [newer, older] = [servedBy(newerRevision), servedBy(olderRevision)];
  return {
    async serve({ body, query, onLabel, ...request }) {
      const read = readMessages(body);
      const { carrier, served } = isNewer(read, request.headers) ? newer : older;
      onLabel(labelOf(read, served));
      if ("error" in read) return carrier.faultOf(read.error, read.id);
      const address = readAddress(query);
      return within(request.signal, () => carrier.answer(read, { ...request, served, address }));
    },
  };
}

/** What comes of the work, or the signal's reason where that is first: what is lost after the answer is nobody's. */
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

/** What is asked for, from a closed set, for logs and metrics. */
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
