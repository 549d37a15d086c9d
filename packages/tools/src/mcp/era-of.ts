import { isObject } from "@svc/core";
import { metaKeys } from "./2026-07-28/envelope.ts";
import type { McpMessage, McpMessages, NoMessages } from "./messages.ts";
import type { McpHeaders } from "./request.ts";
import { isNewerVersion, isOlderVersion } from "./versions.ts";

/**
 * Whether a POST is to be read by the newer revision: its message says so of itself, or else its header names a version that no client
 * begins a handshake with. What says nothing is of a client that has no such words.
 */
export function isNewer(read: McpMessages | NoMessages, { version }: McpHeaders): boolean {
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
