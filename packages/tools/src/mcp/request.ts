import type { Binding, Fault, ForeignText, ProjectPrincipal } from "@svc/core";

/** An action for the audit log. It has the name of the API call that does the same, for example `JobsService.CancelJob`. */
type McpAction = { readonly action: string; readonly subject: string; readonly entityId?: string | undefined };

/**
 * Function that records an action of the caller in the audit log, executes it, and records its outcome. If the first record fails, the
 * action is not executed.
 */
export type EnterAction = <Result>(deed: McpAction, act: () => Promise<Result>) => Promise<Result>;

/**
 * Access that a caller needs for a tool: access classes (such as `read`) and toolkits (apps). An empty list means that the tool needs none.
 */
export type ToolNeeds = Omit<Binding, "entityId">;

/** A POST of an authenticated caller. */
export type McpRequest = {
  readonly body: ForeignText;
  readonly headers: McpHeaders;
  /** Query of the client's MCP address: the text after the question mark. */
  readonly query: string;
  readonly principal: ProjectPrincipal;
  /**
   * Aborted to end the exchange. A tool call that was already sent continues until its outcome is in the ledger (record of all tool calls).
   */
  readonly signal: AbortSignal;
  /** Returns the OAuth scopes that a client must request, so that this caller may use a tool with the given needs. */
  readonly scopesOf: (needs: ToolNeeds) => readonly string[];
  /** Converts any thrown error to a fault for the caller, and logs it. */
  readonly mapError: (error: unknown) => Fault;
  /** Executes an action of the caller, such as cancelling a job. Records the action and its outcome in the audit log. */
  readonly enter: EnterAction;
  /**
   * Called with the kind of the MCP request, for metrics: the name of a method or of a meta-tool, `direct_tool` (a tool called by its own
   * name), `batch` or `other`. There are only these kinds, so that the number of metrics stays small.
   */
  readonly onLabel: (label: string) => void;
  /** Called with the trace context of the client's request, in W3C form. */
  readonly onTrace: (traceparent: string) => void;
  /**
   * Sends a notification to the MCP client before the response of the request. Undefined if the client does not accept a stream as
   * response.
   */
  readonly notify: ((message: string) => void) | undefined;
};

/** Headers that the MCP protocol defines. Undefined if absent. */
export type McpHeaders = {
  /** Value of the header MCP-Protocol-Version: the version of the protocol that the client uses. */
  readonly version: string | undefined;
  /** Value of the header Mcp-Method: the method that the message calls. */
  readonly method: string | undefined;
  /** Value of the header Mcp-Name; undefined if the request has no such header. */
  readonly name: string | undefined;
};

/**
 * An HTTP answer to an MCP client. `body`: JSON, or empty if the POST contained only notifications. If svc has already sent notifications
 * as a stream of events, the answer is the last event of the stream.
 */
export type McpAnswer = { readonly status: number; readonly body: string };

/** An error of the protocol, with a code of JSON-RPC or MCP. */
export type McpError = { readonly code: number; readonly message: string; readonly data?: unknown };

/** Error codes that all revisions of the protocol have in common. */
export const codes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
} as const;

/** Returns the error for a body that is not JSON. */
export function unreadable(why: string): McpError {
  return { code: codes.parseError, message: `Parse error: ${why}` };
}

/**
 * Returns the error for JSON that is not a valid message of the protocol, or for a message that the client's protocol revision does not
 * allow.
 */
export function invalidRequest(why: string): McpError {
  return { code: codes.invalidRequest, message: `Invalid Request: ${why}` };
}

/** Returns the MCP error for a method that does not exist in the client's protocol revision. */
export function methodNotFound(method: string): McpError {
  return { code: codes.methodNotFound, message: `Method not found: ${method.slice(0, 80)}` };
}

/** Returns the error for invalid parameters. `data`: details of the error, in a form that the client software can read. */
export function invalidParams(message: string, data?: unknown): McpError {
  return { code: codes.invalidParams, message, ...(data !== undefined && { data }) };
}
