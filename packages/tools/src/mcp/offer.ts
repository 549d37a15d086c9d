import type { Fault, ProjectPrincipal } from "@svc/core";
import type { McpAddress } from "./address.ts";
import type { EnterAction, McpError } from "./request.ts";

/** Revisions of the protocol that are spoken, each in a folder of its name; the older one is spoken to clients of earlier ones too. */
export type Revision = "2025-11-25" | "2026-07-28";

/** Parameters of a message, and what is answered: objects of JSON. */
export type Params = Readonly<Record<string, unknown>>;

/** Something that a server offers, apart from how any revision of the protocol carries it: tools, tasks, events. */
export type McpOffer = {
  /** What clients are told of it, as the protocol names it: `{ tools: {} }`. */
  readonly capabilities: Params;
  /** By their names in the protocol. */
  readonly methods: Readonly<Record<string, McpMethod>>;
  /** Revisions that have it. Default: every one. */
  readonly revisions?: readonly Revision[] | undefined;
  /** What an agent is told of it before anything else. */
  readonly instructions?: ((address: McpAddress) => string) | undefined;
};

/** One method of an offer. */
export type McpMethod = {
  /** The parameter that says what is acted on: clients repeat it in the header Mcp-Name. */
  readonly nameIn?: "name" | "uri" | "taskId" | undefined;
  /** Whether a client may keep an answer for a while. */
  readonly isCacheable?: boolean | undefined;
  /** What is asked for, from a closed set. Default: the method's name. */
  readonly labelOf?: ((params: Params) => string) | undefined;
  /** Answers a request. What it throws is answered as the service's errors are. */
  answer(params: Params, context: McpContext): Promise<McpOutcome>;
};

/** What a method knows of the request beside its parameters. */
export type McpContext = {
  readonly revision: Revision;
  readonly principal: ProjectPrincipal;
  readonly address: McpAddress;
  /**
   * What the client said that it can be asked for, such as `{ elicitation: {} }`. Undefined where it cannot be asked: clients of older
   * revisions answer what a server asks with a POST of its own, which may reach another node.
   */
  readonly client: Params | undefined;
  /** Ends with the exchange. */
  readonly signal: AbortSignal;
  /** Whether nothing else is answered with it: then HTTP has a better answer for a store that is away. */
  readonly isAlone: boolean;
  /** Does what stands in the audit log. */
  readonly enter: EnterAction;
  /** By what name its client wants to hear how far it is; undefined where it did not ask for that. */
  readonly progressToken: unknown;
  /** Sends a notification before the answer. Lost where the client reads no stream, or reads too slowly. */
  notify(method: string, params: Params): void;
  /** Turns what was thrown into what the caller may read, and hears of it. */
  mapError(error: unknown): Fault;
};

/**
 * What came of a request. `input_required` is answered to a client that can be asked, and `task` to one that says it knows tasks; to no
 * other.
 */
export type McpOutcome =
  | { readonly type: "complete"; readonly result: Params }
  | { readonly type: "task"; readonly result: Params }
  | { readonly type: "input_required"; readonly result: InputRequired }
  | { readonly type: "error"; readonly error: McpError };

/** What the client is to find out before it asks again: requests to itself by names of the server's, and a state that it hands back. */
export type InputRequired =
  | { readonly inputRequests: Params; readonly requestState?: string | undefined }
  | { readonly requestState: string };

/** A request that was done. */
export function complete(result: Params): McpOutcome {
  return { type: "complete", result };
}

/** A request that the protocol refuses. */
export function refused(error: McpError): McpOutcome {
  return { type: "error", error };
}
