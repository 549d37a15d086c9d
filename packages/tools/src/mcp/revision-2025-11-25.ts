import { assertExhaustive } from "@svc/core";
import type { McpMessage, McpMessages, MessageId } from "./messages.ts";
import { complete, type McpMethod, type McpOutcome } from "./offer.ts";
import { codes, type McpAnswer, type McpError, type McpHeaders } from "./request.ts";
import { dispatch, type McpExchange, type RevisionCarrier, type ServedProtocol, serverInfo } from "./served.ts";
import { olderVersions, unsupportedVersion } from "./versions.ts";

/**
 * Returns an error if the version header of a request names the wrong protocol version. It must name the version that was agreed in the
 * handshake. Returns undefined if the header is missing, because clients of the first MCP revisions do not send it.
 */
function envelopeFault({ version }: McpHeaders): McpError | undefined {
  return version === undefined || olderVersions.includes(version) ? undefined : unsupportedVersion(version);
}

/** Returns the JSON-RPC message that answers an MCP request with the given outcome (a result or an error). */
function responseOf(id: MessageId, outcome: McpOutcome): object {
  switch (outcome.type) {
    case "complete":
      return { jsonrpc: "2.0", id, result: outcome.result };
    case "error":
      return { jsonrpc: "2.0", id, error: outcome.error };
    case "input_required":
    case "task":
      // This cannot happen: the method knows from its context that this client cannot be asked questions.
      return { jsonrpc: "2.0", id, error: { code: codes.internalError, message: "The client cannot be asked" } };
    default:
      return assertExhaustive(outcome);
  }
}

/**
 * Returns the answer to a request that is refused before its method runs. If the id of the request is unreadable, JSON-RPC requires the id
 * null.
 */
function faultOf(error: McpError, id: MessageId | null = null): McpAnswer {
  return { status: 400, body: JSON.stringify({ jsonrpc: "2.0", id, error }) };
}

type Request = Extract<McpMessage, { kind: "request" }>;

/**
 * Returns the answer to a POST of an MCP client of revision 2025-11-25 or earlier, whose connection begins with a handshake (`initialize`).
 * The POST contains one message. Before revision 2025-06-18 it may contain several.
 */
async function answer({ messages, isBatch }: McpMessages, exchange: McpExchange): Promise<McpAnswer> {
  const requests = messages.filter((message): message is Request => message.kind === "request");
  // During a handshake no version is agreed yet, so the header may name any version.
  const isHandshake = requests.some(({ method }) => method === "initialize");
  const fault = isHandshake ? undefined : envelopeFault(exchange.headers);
  if (fault !== undefined) return faultOf(fault, isBatch ? undefined : requests[0]?.id);
  // Notifications of a client have no effect. It could only cancel its own request by one, and it does that by closing the connection.
  if (requests.length === 0) return { status: 202, body: "" };
  const isAlone = requests.length === 1;
  const answers = await Promise.all(requests.map((request) => answerRequest(request, exchange, isAlone)));
  return { status: 200, body: JSON.stringify(isBatch ? answers : answers[0]) };
}

async function answerRequest(
  { id, method: name, params }: Request,
  exchange: McpExchange,
  isAlone: boolean,
): Promise<object> {
  const method = exchange.served.methods.get(name);
  const asked = { revision: "2025-11-25", client: undefined, isAlone, name, method, params } as const;
  return responseOf(id, await dispatch(exchange, asked));
}

const [latest] = olderVersions;

/**
 * Returns the MCP methods that only the protocol revision 2025-11-25 has, such as the handshake. The handshake leaves no state on the
 * server.
 */
function ownMethods(served: Omit<ServedProtocol, "methods">): Readonly<Record<string, McpMethod>> {
  return {
    initialize: {
      async answer({ protocolVersion }, { address }) {
        const isSpoken = olderVersions.some((version) => version === protocolVersion);
        const instructions = served.instructions(address);
        return complete({
          protocolVersion: isSpoken ? protocolVersion : latest,
          capabilities: served.capabilities,
          serverInfo: serverInfo(served),
          ...(instructions !== "" && { instructions }),
        });
      },
    },
    ping: { answer: async () => complete({}) },
  };
}

/**
 * Handler for revision 2025-11-25 of MCP (Model Context Protocol), the last revision with a handshake. It serves clients of earlier
 * revisions as well.
 */
export const olderRevision: RevisionCarrier = { revision: "2025-11-25", ownMethods, answer, faultOf };
