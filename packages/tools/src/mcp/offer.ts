import type { Fault, ProjectPrincipal } from "@svc/core";
import type { McpAddress } from "./address.ts";
import type { EnterAction, McpError } from "./request.ts";

/** Supported revisions of the protocol. The older one also serves clients of all earlier revisions. */
export type Revision = "2025-11-25" | "2026-07-28";

/** Parameters of a message, or the content of an answer: JSON objects. */
export type Params = Readonly<Record<string, unknown>>;

/** A group of the server's functions (tools, tasks or events), independent of the protocol revision. */
export type McpOffer = {
  /** Capabilities that the server declares to clients, in the protocol's form (for example `{ tools: {} }`). */
  readonly capabilities: Params;
  /** Methods by their names in the protocol. */
  readonly methods: Readonly<Record<string, McpMethod>>;
  /** Protocol revisions in which clients get this offer. Default: all. */
  readonly revisions?: readonly Revision[] | undefined;
  /** Returns the general instructions for an agent, for the given address. */
  readonly instructions?: ((address: McpAddress) => string) | undefined;
};

/** A method of an offer. */
export type McpMethod = {
  /** The parameter that names the object on which the method acts. Clients repeat this name in the header Mcp-Name. */
  readonly nameIn?: "name" | "uri" | "taskId" | undefined;
  /** True if a client may cache an answer for some minutes. */
  readonly isCacheable?: boolean | undefined;
  /** Returns the kind of a request for logs and metrics. The set of kinds is fixed. Default: the method's name. */
  readonly labelOf?: ((params: Params) => string) | undefined;
  /** Answers a request and returns the outcome. Errors that it throws are answered like other errors of the service. */
  answer(params: Params, context: McpContext): Promise<McpOutcome>;
};

/** Context of a request, in addition to its parameters. */
export type McpContext = {
  readonly revision: Revision;
  readonly principal: ProjectPrincipal;
  readonly address: McpAddress;
  /**
   * The kinds of questions that the client accepts (for example `{ elicitation: {} }`). Undefined if the client cannot be asked. Clients of
   * older revisions cannot: they answer a server's question with a separate POST, which may reach another node.
   */
  readonly client: Params | undefined;
  /** Aborted when the exchange (the POST and its answer) ends. */
  readonly signal: AbortSignal;
  /** True if the POST contains only this request. If the database is unavailable, HTTP can then give a better answer than MCP. */
  readonly isAlone: boolean;
  /** Executes an action and records it in the audit log. */
  readonly enter: EnterAction;
  /** The client's name for progress reports; undefined if it did not request them. */
  readonly progressToken: unknown;
  /** Sends a notification before the answer. The notification is lost if the client reads no stream or reads too slowly. */
  notify(method: string, params: Params): void;
  /** Converts a thrown error to a fault for the caller, and logs it. */
  mapError(error: unknown): Fault;
};

/** Outcome of a request. `input_required`: only for clients that can be asked. `task`: only for clients that support tasks. */
export type McpOutcome =
  | { readonly type: "complete"; readonly result: Params }
  | { readonly type: "task"; readonly result: Params }
  | { readonly type: "input_required"; readonly result: InputRequired }
  | { readonly type: "error"; readonly error: McpError };

/**
 * Questions that the client answers before it repeats the request. The questions have names from the server. The client also returns the
 * state with the repeated request.
 */
export type InputRequired =
  | { readonly inputRequests: Params; readonly requestState?: string | undefined }
  | { readonly requestState: string };

/** Returns the outcome of a completed request. */
export function complete(result: Params): McpOutcome {
  return { type: "complete", result };
}

/** Returns the outcome of a request that the protocol refuses. */
export function refused(error: McpError): McpOutcome {
  return { type: "error", error };
}
