import { parseExactJson } from "@svc/core";
import { argumentValuesMax } from "../service/call-request.ts";

/** The JSON-RPC messages of one POST, or why there are none to serve. */
export type McpMessages =
  | {
      readonly json: unknown;
      /** What is asked for, from a closed set, for logs and metrics: `call_tool`, `tools/list`, `batch`, `other` ... */
      readonly label: string;
      /** Whether more than one request is answered at once. */
      readonly isBatch: boolean;
    }
  | { readonly code: number; readonly fault: string };

/** JSON-RPC's codes of what is no JSON, and of what is no request. */
const parseError = -32_700;
const invalidRequest = -32_600;

/**
 * Reads the body of a POST, which may hold as many values as the arguments of one call. Numbers keep their digits. Cancellations are left out: every POST has a server of its own, which
 * has nothing to cancel but what came with it, and would never answer that.
 */
export function readMessages(body: string, isMetaTool: (name: string) => boolean): McpMessages {
  let json: unknown;
  try {
    json = parseExactJson(body, { valuesMax: argumentValuesMax });
  } catch (error) {
    return { code: parseError, fault: `Parse error: ${(error as SyntaxError).message}` };
  }
  if (!Array.isArray(json)) return { json, label: labelOf(json, isMetaTool), isBatch: false };
  if (json.length === 0) return { code: invalidRequest, fault: "Invalid Request: the batch is empty" };
  const messages = json.filter((message) => fieldOf(message, "method") !== "notifications/cancelled");
  const ids = messages.flatMap((message: unknown) => (isRequest(message) ? [fieldOf(message, "id")] : []));
  // Both would be executed and one of them answered.
  if (new Set(ids).size < ids.length)
    return { code: invalidRequest, fault: "Invalid Request: two requests have the same id" };
  return { json: messages, label: "batch", isBatch: ids.length > 1 };
}

/** A JSON-RPC answer to a POST that holds no message to answer. */
export function faultBody({ code, fault }: { readonly code: number; readonly fault: string }): string {
  return JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message: fault } });
}

const methods: ReadonlySet<unknown> = new Set(["initialize", "ping", "tools/list", "notifications/initialized"]);

function labelOf(message: unknown, isMetaTool: (name: string) => boolean): string {
  const method = fieldOf(message, "method");
  if (method !== "tools/call") return methods.has(method) ? String(method) : "other";
  const name = fieldOf(fieldOf(message, "params"), "name");
  return typeof name === "string" && isMetaTool(name) ? name : "other";
}

function isRequest(message: unknown): boolean {
  return fieldOf(message, "method") !== undefined && fieldOf(message, "id") !== undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
