import { assertExhaustive, isObject, readForeignText } from "@svc/core";
import type { McpMessages, MessageId } from "./messages.ts";
import { complete, type McpMethod, type McpOutcome, type Params } from "./offer.ts";
import { codes, invalidParams, invalidRequest, type McpAnswer, type McpError, type McpHeaders } from "./request.ts";
import { dispatch, type McpExchange, type RevisionCarrier, type ServedProtocol, serverInfo } from "./served.ts";
import { newerVersions, spokenVersions, unsupportedVersion } from "./versions.ts";

/**
 * Returns the name (for example of a tool) that a request repeats in a header. The name is plain text, or Base64 if it has special
 * characters. Returns undefined if it is neither.
 */
function nameInHeader(header: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(header) ?? [];
  if (encoded === undefined) return /^[\t\x20-\x7e]*$/.test(header) ? header : undefined;
  const bytes = Buffer.from(encoded, "base64");
  // `Buffer.from` ignores characters that are not Base64. So the decoded bytes are encoded again and compared with the header. If they
  // differ, the header is invalid.
  const read = readForeignText(bytes);
  return bytes.toString("base64") === encoded && "text" in read ? read.text : undefined;
}

/** Names of the metadata fields that every request carries in addition to its parameters. */
export const metaKeys = {
  version: "io.modelcontextprotocol/protocolVersion",
  client: "io.modelcontextprotocol/clientCapabilities",
  server: "io.modelcontextprotocol/serverInfo",
} as const;

/** Metadata that each request has in the MCP revision 2026-07-28. `client`: the kinds of questions that the client accepts. */
type Envelope = { readonly client: Params; readonly traceparent: string | undefined };

/** Error code for headers that are missing or that contradict the message. */
const headerMismatchCode = -32_020;

/** Returns the metadata of an MCP request (protocol version and client). Returns an error if the metadata is missing or wrong. */
function readEnvelope(
  { method, params }: { readonly method: string; readonly params: Params },
  headers: McpHeaders,
): Envelope | { readonly error: McpError } {
  const meta = isObject(params["_meta"]) ? params["_meta"] : {};
  const claimed = meta[metaKeys.version];
  const { version } = headers;
  if (version === undefined) return { error: mismatch("the header MCP-Protocol-Version is missing") };
  if (typeof claimed !== "string") {
    const isSpoken = newerVersions.includes(version);
    return { error: isSpoken ? missing(metaKeys.version, "a text") : unsupportedVersion(version) };
  }
  if (claimed !== version) return { error: mismatch("MCP-Protocol-Version and _meta name different versions") };
  if (!newerVersions.includes(version)) return { error: unsupportedVersion(version) };
  const client = meta[metaKeys.client];
  if (!isObject(client)) return { error: missing(metaKeys.client, "an object") };
  if (headers.method === undefined) return { error: mismatch("the header Mcp-Method is missing") };
  if (headers.method !== method)
    return { error: mismatch(`Mcp-Method is not ${method.slice(0, 80)}, the message's method`) };
  return { client, traceparent: traceOf(meta["traceparent"]) };
}

/**
 * Returns the fault of the header Mcp-Name, which must repeat the name of the object on which the method acts. Undefined if it is correct.
 */
function nameFault({ nameIn }: McpMethod, params: Params, { name }: McpHeaders): McpError | undefined {
  const value = nameIn && params[nameIn];
  // The parameter has the wrong type. The method itself reports this.
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

/**
 * Milliseconds for which a client may cache a list (for example of tools). The client must not share the cached list with other callers,
 * because different API keys get different lists.
 */
const keptMs = 300_000;

/** Returns the HTTP answer to an MCP request with the given outcome (for example a result or an error). */
function responseOf(
  id: MessageId,
  outcome: McpOutcome,
  { served, isCacheable }: { readonly served: ServedProtocol; readonly isCacheable: boolean },
): McpAnswer {
  switch (outcome.type) {
    case "complete": {
      const kept = isCacheable ? { ttlMs: keptMs, cacheScope: "private" } : {};
      return resultOf(id, { resultType: "complete", ...outcome.result, ...kept }, served);
    }
    case "input_required":
    case "task":
      return resultOf(id, { resultType: outcome.type, ...outcome.result }, served);
    case "error":
      return faultOf(outcome.error, { id });
    default:
      return assertExhaustive(outcome);
  }
}

function resultOf(id: MessageId, result: Params, served: ServedProtocol): McpAnswer {
  const meta = isObject(result["_meta"]) ? result["_meta"] : {};
  const whole = { ...result, _meta: { ...meta, [metaKeys.server]: serverInfo(served) } };
  return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, result: whole }) };
}

/**
 * Returns the HTTP answer to a refused request. `status`: HTTP status; default: the status that belongs to the error's code. `id`: id of
 * the request; omitted if no request could be read.
 */
function faultOf(error: McpError, { id, status }: { id?: MessageId; status?: number } = {}): McpAnswer {
  const body = JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), error });
  return { status: status ?? statusOf(error.code), body };
}

/** Returns the HTTP status for an MCP error code. Codes from -32,099 to -32,020 mean that a request violates the general rules of MCP. */
function statusOf(code: number): number {
  if (code === codes.methodNotFound) return 404;
  const isNoRequest = code === codes.parseError || code === codes.invalidRequest;
  return isNoRequest || (code <= -32_020 && code >= -32_099) ? 400 : 200;
}

/**
 * Returns the answer to a POST of an MCP client with the revision 2026-07-28. Such a client sends its version and capabilities with each
 * request.
 */
async function answer({ messages, isBatch }: McpMessages, exchange: McpExchange): Promise<McpAnswer> {
  const [message] = messages;
  if (isBatch || message === undefined) return faultOf(invalidRequest("this revision has no batches"));
  if (message.kind === "response") return faultOf(invalidRequest("nothing was asked of the client"));
  // In this revision, an HTTP server need not handle any notification.
  if (message.kind === "notification") return { status: 202, body: "" };
  const { id, method: name, params } = message;
  const { served, headers, onTrace } = exchange;
  const envelope = readEnvelope(message, headers);
  if ("error" in envelope) return faultOf(envelope.error, { id, status: 400 });
  const { client, traceparent } = envelope;
  if (traceparent !== undefined) onTrace(traceparent);
  const method = served.methods.get(name);
  const mismatch = method && nameFault(method, params, headers);
  if (mismatch !== undefined) return faultOf(mismatch, { id });
  const asked = { revision: "2026-07-28", client, isAlone: true, name, method, params } as const;
  return responseOf(id, await dispatch(exchange, asked), { served, isCacheable: method?.isCacheable ?? false });
}

/** Returns the methods that exist only in this revision of the protocol (for example `server/discover`). */
function ownMethods(served: Omit<ServedProtocol, "methods">): Readonly<Record<string, McpMethod>> {
  return {
    "server/discover": {
      isCacheable: true,
      async answer(_params, { address }) {
        const instructions = served.instructions(address);
        return complete({
          supportedVersions: spokenVersions,
          capabilities: served.capabilities,
          ...(instructions !== "" && { instructions }),
        });
      },
    },
  };
}

/** The revision 2026-07-28 of MCP (Model Context Protocol). In this revision every request is independent and needs no handshake. */
export const newerRevision: RevisionCarrier = {
  revision: "2026-07-28",
  ownMethods,
  answer,
  faultOf: (error, id) => faultOf(error, id === undefined ? {} : { id }),
};
