import type { Fault, ProjectPrincipal } from "@svc/core";
import type { McpAddress } from "./address.ts";
import type { EnterAction, McpError } from "./request.ts";

/** Supported revisions of the protocol. The older one also serves clients of earlier revisions. */
export type Revision = "2025-11-25" | "2026-07-28";

/** Parameters of a message, or an answer: objects of JSON. */
export type Params = Readonly<Record<string, unknown>>;

/** A part of the server's functions, independent of any protocol revision: tools, tasks or events. */
export type McpOffer = {
  /** Capabilities declared to clients, in the protocol's form: `{ tools: {} }`. */
  readonly capabilities: Params;
  /** By their names in the protocol. */
  readonly methods: Readonly<Record<string, McpMethod>>;
  /** Revisions that include the offer. Default: all. */
  readonly revisions?: readonly Revision[] | undefined;
  /** Returns the general instructions for an agent. */
  readonly instructions?: ((address: McpAddress) => string) | undefined;
};

/** A method of an offer. */
export type McpMethod = {
  /** The parameter that names the object of the method. Clients repeat it in the header Mcp-Name. */
  readonly nameIn?: "name" | "uri" | "taskId" | undefined;
  /** True if a client may cache an answer for a while. */
  readonly isCacheable?: boolean | undefined;
  /** Returns the kind of request, from a closed set. Default: the method's name. */
  readonly labelOf?: ((params: Params) => string) | undefined;
  /** Answers a request. Errors that it throws are answered like other errors of the service. */
  answer(params: Params, context: McpContext): Promise<McpOutcome>;
};

/** Context of a request, in addition to its parameters. */
export type McpContext = {
  readonly revision: Revision;
  readonly principal: ProjectPrincipal;
  readonly address: McpAddress;
  /**
   * The questions that the client accepts, such as `{ elicitation: {} }`. Undefined if it cannot be asked: clients of older revisions
   * answer a server's question with a separate POST, which may reach another node.
   */
  readonly client: Params | undefined;
  /** Aborted when the exchange ends. */
  readonly signal: AbortSignal;
  /** True if the POST has no other request: HTTP then has a better answer for an unavailable database. */
  readonly isAlone: boolean;
  /** Executes an audited action. */
  readonly enter: EnterAction;
  /** The client's name for progress reports; undefined if it did not request them. */
  readonly progressToken: unknown;
  /** Sends a notification before the answer. It is lost if the client reads no stream or reads too slowly. */
  notify(method: string, params: Params): void;
  /** Converts a thrown error to a fault for the caller, and logs it. */
  mapError(error: unknown): Fault;
};

/** Outcome of a request. `input_required` is only for clients that can be asked, and `task` only for clients that support tasks. */
export type McpOutcome =
  | { readonly type: "complete"; readonly result: Params }
  | { readonly type: "task"; readonly result: Params }
  | { readonly type: "input_required"; readonly result: InputRequired }
  | { readonly type: "error"; readonly error: McpError };

/** Questions that the client answers before it repeats the request, by the server's names, and a state that it returns. */
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
