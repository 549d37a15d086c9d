import type { SvcClient } from "../client.ts";

/** The API calls that a client must offer, so that the tools for an AI agent can use them. */
export type AgentClient = {
  readonly catalog: Pick<SvcClient["catalog"], "listTools" | "getTool" | "getToolkit">;
  readonly identity: Pick<SvcClient["identity"], "getIdentity">;
  readonly tools: Pick<SvcClient["tools"], "searchTools" | "describeTool" | "callTool">;
};

/** Options of `svcTools` that apply to each call. */
export type CallerOptions = {
  /** Id of the entity (customer or user) whose accounts the tools use. The model cannot choose it. */
  readonly entityId: string;
  /**
   * Approval of destructive calls. `model` (default): svc holds the call, the model asks its user and then calls again with
   * `confirm: true`. `framework`: the approval of the agent framework decides before the call, and the model cannot confirm. A call is sent
   * only if the framework asked for exactly this call in this process; otherwise it stays held. If the policy of the project has a person
   * confirm, this applies in both cases.
   */
  readonly approvals?: "model" | "framework";
  /**
   * Id of a conversation or run in which each call has its own id. A call that the framework repeats in it, also after a restart, is then
   * executed once in 24 hours. Leave it out if the model uses a call id again (such as `name:0` in each turn), because svc would take the
   * second call for a repetition. Default: none, and svc executes each call.
   */
  readonly runId?: string;
  /** Maximum size of a result in bytes, from 256. svc shortens lists to fit. Default 20,000, about 5,000 tokens. */
  readonly maxBytes?: number;
};

/** JSON Schema of a tool's arguments. */
export type AgentSchema = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, object>>;
  readonly [keyword: string]: unknown;
};

/** A call of a tool that an AI model has requested. */
export type AgentCall = {
  /** Id that the framework or the model gave to this call. With `runId`, svc makes the idempotency key of both. Empty counts as missing. */
  readonly callId?: string | undefined;
  /** Id that `needsApproval` got for this call. Default: `callId`. Without both, the call counts as not approved. */
  readonly approvalId?: string | undefined;
  /** Ends the call early. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * The answer to a tool call in the form that the AI model receives: a result, the outcome of a call without a result, or an error of svc.
 */
export type ModelAnswer = Readonly<Record<string, unknown>>;

/** A tool of svc for an agent. The adapters, such as `@svc/sdk/agents/ai`, turn it into a tool of their framework. */
export type SvcAgentTool = {
  /** Name for the model, such as `calendar__list_events`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: AgentSchema;
  /** Access class: `read`, `write` or `destructive`. For `call_tool`, the highest class that it can reach. */
  readonly accessClass: string;
  /** Approval of destructive calls, as in the options of `svcTools`. */
  readonly approvals: "model" | "framework";
  /**
   * True if the framework must get an approval before it makes a call with these arguments. Remembers in memory that the framework asked for
   * the call with this id, so that one `call` with the same id and arguments may be sent.
   */
  needsApproval(args: unknown, approvalId?: string): Promise<boolean>;
  /**
   * Makes the call. With `approvals: "framework"`, first get the approval if `needsApproval` is true. Rejects if svc refuses the key, or if
   * a read cannot reach svc. If the answer to another call is lost, its outcome is `outcome_unknown`.
   */
  call(args: unknown, call?: AgentCall): Promise<ModelAnswer>;
};

/** A tool to call, by its slug. `readClass` reads its access class, and returns an empty text if the class cannot be read. */
export type CallableTool = { readonly slug: string; readClass(): Promise<string> };

/** Calls tools by their slugs for one agent. The functions work like those of SvcAgentTool. */
export type AgentCaller = Pick<SvcAgentTool, "approvals"> & {
  needsApproval(tool: CallableTool, args: unknown, approvalId: string | undefined): Promise<boolean>;
  call(tool: CallableTool, args: unknown, call: AgentCall | undefined): Promise<ModelAnswer>;
};
