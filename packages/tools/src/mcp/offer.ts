import type { Fault, ProjectPrincipal } from "@svc/core";
import type { McpAddress } from "./address.ts";
import type { EnterAction, McpError, McpRequest } from "./request.ts";

/** Supported revisions of the protocol. The older one also serves clients of all earlier revisions. */
export type Revision = "2025-11-25" | "2026-07-28";

/** Parameters of a message, or the content of an answer: JSON objects. */
export type Params = Readonly<Record<string, unknown>>;

/** A group of features of the server (tools, tasks or events). It does not depend on the protocol revision. */
export type McpOffer = {
  /** Capabilities that the server declares to clients, in the protocol's form (for example `{ tools: {} }`). */
  readonly capabilities: Params;
  /** Methods by their names in the protocol. */
  readonly methods: Readonly<Record<string, McpMethod>>;
  /** MCP revisions for which svc offers the methods of this object. Default: all. */
  readonly revisions?: readonly Revision[] | undefined;
  /** Returns the general instructions for an agent, for the given address. */
  readonly instructions?: ((address: McpAddress) => string) | undefined;
};

/** A method that clients can call. */
export type McpMethod = {
  /** The parameter that names the object on which the method acts. Clients repeat this name in the header Mcp-Name. */
  readonly nameIn?: "name" | "uri" | "taskId" | undefined;
  /** True if a client may cache the answer for some minutes. Default: false. */
  readonly isCacheable?: boolean | undefined;
  /** Returns the kind of a request for logs and metrics. It must be one of a fixed set. Default: the method's name. */
  readonly labelOf?: ((params: Params) => string) | undefined;
  /** Answers a request and returns the outcome. If it throws an error, the client gets it like any other error of the service. */
  answer(params: Params, context: McpContext): Promise<McpOutcome>;
};

/** Context of a request to a method, in addition to its parameters. */
export type McpContext = {
  readonly revision: Revision;
  readonly principal: ProjectPrincipal;
  readonly address: McpAddress;
  /**
   * The kinds of questions that the MCP client accepts, for example `{ elicitation: {} }`. Undefined if the client cannot be asked. A
   * client of MCP revision 2025-11-25 or earlier can never be asked, because its answer may reach a node that does not know the question.
   */
  readonly client: Params | undefined;
  /** Aborted when the exchange (the POST and its answer) ends. */
  readonly signal: AbortSignal;
  /**
   * True if the POST contains only this request. svc can then answer with an HTTP error if the database is unavailable. False for a batch.
   */
  readonly isAlone: boolean;
  /** Executes an action of the caller, such as cancelling a job. Records the action and its outcome in the audit log. */
  readonly enter: EnterAction;
  /** Returns the OAuth scopes that a client needs to use a tool. The argument says which access the tool requires. */
  readonly scopesOf: McpRequest["scopesOf"];
  /** Token that the client chose for progress reports of this request. Undefined if it wants none. */
  readonly progressToken: unknown;
  /** Sends a notification before the answer. The notification is lost if the client reads no stream or reads too slowly. */
  notify(method: string, params: Params): void;
  /** Converts a thrown error to a fault for the caller, and logs it. */
  mapError(error: unknown): Fault;
};

/**
 * Outcome of an MCP request. `complete`: it has a result. `task`: it continues as a task; only for clients that support tasks.
 * `input_required`: the client must answer questions first; only for clients that accept questions. `error`: it failed.
 */
export type McpOutcome =
  | { readonly type: "complete"; readonly result: Params }
  | { readonly type: "task"; readonly result: Params }
  | { readonly type: "input_required"; readonly result: InputRequired }
  | { readonly type: "error"; readonly error: McpError };

/**
 * The answer to a request that needs more data from the client. `inputRequests`: questions, by the names that the server gave them.
 * `requestState`: text that the server needs again.
 * The client then repeats the request with its answers and with `requestState`.
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
