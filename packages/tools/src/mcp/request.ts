import type { Fault, ForeignText, ProjectPrincipal } from "@svc/core";

/** Something that stands in the audit log, in the words of the call of the API that does the same: `JobsService.CancelJob`. */
type McpAction = { readonly action: string; readonly subject: string; readonly entityId?: string | undefined };

/** Enters a deed of the caller in the audit log, does it, and enters how it ended. Nothing is done where it cannot be entered. */
export type EnterAction = <Result>(deed: McpAction, act: () => Promise<Result>) => Promise<Result>;

/** One POST of a caller that is known. */
export type McpRequest = {
  readonly body: ForeignText;
  readonly headers: McpHeaders;
  /** What stands after the question mark of the address. */
  readonly query: string;
  readonly principal: ProjectPrincipal;
  /** Ends the exchange; a call that was sent goes on to its outcome in the ledger. */
  readonly signal: AbortSignal;
  /** Turns whatever was thrown into what its caller may read, and hears of it. */
  readonly mapError: (error: unknown) => Fault;
  /** Does what stands in the audit log. */
  readonly enter: EnterAction;
  /** Hears what is asked for, from a closed set: a meta-tool's name, a method, `direct_tool`, `batch` or `other`. */
  readonly onLabel: (label: string) => void;
  /** Hears of the trace that the client's request belongs to, as W3C writes it. */
  readonly onTrace: (traceparent: string) => void;
  /** Sends a notification before the answer; undefined where the client reads no stream. */
  readonly notify: ((message: string) => void) | undefined;
};

/** Headers that mean anything to the protocol; undefined where there is none. */
export type McpHeaders = {
  /** MCP-Protocol-Version. */
  readonly version: string | undefined;
  /** Mcp-Method. */
  readonly method: string | undefined;
  /** Mcp-Name. */
  readonly name: string | undefined;
};

/** What is answered: JSON, or nothing to notifications. Where notifications were sent it is the last event of their stream. */
export type McpAnswer = { readonly status: number; readonly body: string };

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
