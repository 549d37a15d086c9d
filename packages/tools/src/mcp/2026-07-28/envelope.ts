import { isObject } from "@svc/core";
import { invalidParams, type McpError } from "../errors.ts";
import type { McpMethod, Params } from "../offer.ts";
import type { McpHeaders } from "../request.ts";
import { unsupportedVersion } from "../versions.ts";
import { nameInHeader } from "./header-value.ts";
import { versions } from "./versions.ts";

/** Names of what every request carries beside its parameters. */
export const metaKeys = {
  version: "io.modelcontextprotocol/protocolVersion",
  client: "io.modelcontextprotocol/clientCapabilities",
  server: "io.modelcontextprotocol/serverInfo",
} as const;

/** What a request of this revision says of itself, and its client of what it can be asked for. */
export type Envelope = { readonly client: Params; readonly traceparent: string | undefined };

/** The code of headers that are missing, or say something else than the message. */
const headerMismatchCode = -32_020;

/** Reads what comes beside a request's parameters, or says what is wrong with it. */
export function readEnvelope(
  { method, params }: { readonly method: string; readonly params: Params },
  headers: McpHeaders,
): Envelope | { readonly error: McpError } {
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  const claimed = meta[metaKeys.version];
  const { version } = headers;
  if (version === undefined) return { error: mismatch("the header MCP-Protocol-Version is missing") };
  if (typeof claimed !== "string") {
    const isSpoken = versions.includes(version);
    return { error: isSpoken ? missing(metaKeys.version, "a text") : unsupportedVersion(version) };
  }
  if (claimed !== version) return { error: mismatch("MCP-Protocol-Version and _meta name different versions") };
  if (!versions.includes(version)) return { error: unsupportedVersion(version) };
  const client = meta[metaKeys.client];
  if (!isObject(client)) return { error: missing(metaKeys.client, "an object") };
  if (headers.method === undefined) return { error: mismatch("the header Mcp-Method is missing") };
  if (headers.method !== method)
    return { error: mismatch(`Mcp-Method is not ${method.slice(0, 80)}, the message's method`) };
  return { client, traceparent: traceOf(meta["traceparent"]) };
}

/** What is wrong with the header that repeats what a method acts on. */
export function nameFault({ nameIn }: McpMethod, params: Params, { name }: McpHeaders): McpError | undefined {
  const value = nameIn && params[nameIn];
  // Whoever answers the method says what is wrong with the parameter itself.
  if (typeof value !== "string") return undefined;
  if (name === undefined) return mismatch("the header Mcp-Name is missing");
  return nameInHeader(name) === value ? undefined : mismatch(`Mcp-Name is not params.${nameIn}`);
}

function mismatch(what: string): McpError {
  return { code: headerMismatchCode, message: `Header mismatch: ${what}` };
}

function missing(key: string, what: string): McpError {
  return invalidParams(`Invalid params: params._meta must have ${key}, ${what}`);
}

function traceOf(value: unknown): string | undefined {
  return typeof value === "string" && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(value)
    ? value
    : undefined;
}
