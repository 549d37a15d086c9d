import { assertExhaustive } from "@svc/core";
import { codes, type McpError } from "../errors.ts";
import type { MessageId } from "../messages.ts";
import type { McpOutcome } from "../offer.ts";
import type { McpAnswer } from "../request.ts";

/** The message that answers a request. */
export function responseOf(id: MessageId, outcome: McpOutcome): object {
  switch (outcome.type) {
    case "complete":
      return { jsonrpc: "2.0", id, result: outcome.result };
    case "error":
      return { jsonrpc: "2.0", id, error: outcome.error };
    case "input_required":
    case "task":
      // Its method was told that this client cannot be asked.
      return { jsonrpc: "2.0", id, error: { code: codes.internalError, message: "The client cannot be asked" } };
    default:
      return assertExhaustive(outcome);
  }
}

/** The answer to a request that is refused before its method is asked. JSON-RPC has the id null where it cannot be read. */
export function faultOf(error: McpError, id: MessageId | null = null): McpAnswer {
  return { status: 400, body: JSON.stringify({ jsonrpc: "2.0", id, error }) };
}
