/** An error of the protocol: a code of JSON-RPC's or of MCP's. */
export type McpError = { readonly code: number; readonly message: string; readonly data?: unknown };

/** Codes that every revision has; those that one alone has stand in its folder. */
export const codes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
} as const;

/** The body is no JSON. */
export function unreadable(why: string): McpError {
  return { code: codes.parseError, message: `Parse error: ${why}` };
}

/** The body is JSON and no message, or none that may come so. */
export function invalidRequest(why: string): McpError {
  return { code: codes.invalidRequest, message: `Invalid Request: ${why}` };
}

/** No such method, or none of this revision. */
export function methodNotFound(method: string): McpError {
  return { code: codes.methodNotFound, message: `Method not found: ${method.slice(0, 80)}` };
}

/** Parameters out of their form. `data` tells a program more. */
export function invalidParams(message: string, data?: unknown): McpError {
  return { code: codes.invalidParams, message, ...(data !== undefined && { data }) };
}
