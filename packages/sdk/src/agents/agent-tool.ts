import type { CallToolResponse } from "@svc/gen/tools";
import type { SvcClient } from "../client.ts";
import { randomId } from "../clock.ts";
import { svcErrorDetails } from "../error-details.ts";

/** The calls of a client that the tools of an agent need. */
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
   * `confirm: true`. `framework`: the approval of the agent framework decides before the call, and the model cannot confirm. If the policy of
   * the project has a person confirm, this applies in both cases.
   */
  readonly approvals?: "model" | "framework";
  /**
   * Id of the conversation or run. A call that the framework repeats in the same run, also after a restart, is executed once. Default: a
   * random id.
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

/** The call of a tool by a model. */
export type AgentCall = {
  /** Id that the framework or the model gave to this call. svc makes the idempotency key of it. */
  readonly callId?: string | undefined;
  /** Ends the call early. */
  readonly signal?: AbortSignal | undefined;
};

/** The answer to a call, for the model: a result, the outcome of a call without a result, or an error of svc. */
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
  /** True if the framework must get an approval before it makes a call with these arguments. */
  needsApproval(args: unknown): Promise<boolean>;
  /**
   * Makes the call. With `approvals: "framework"`, first get the approval if `needsApproval` is true. Rejects if svc cannot be reached or
   * refuses the key.
   */
  call(args: unknown, call?: AgentCall): Promise<ModelAnswer>;
};

/** Calls tools by their slugs for one agent. */
export type AgentCaller = Pick<SvcAgentTool, "approvals"> & {
  call(slug: string, args: unknown, isDestructive: boolean, call: AgentCall | undefined): Promise<ModelAnswer>;
};

/** Returns the calls of tools for an agent, with the options of `svcTools`. */
export function createCaller({ tools }: AgentClient, options: CallerOptions): AgentCaller {
  const { entityId, approvals = "model", runId = randomId(), maxBytes = 20_000 } = options;
  return {
    approvals,
    async call(slug, args, isDestructive, { callId, signal } = {}) {
      const given = argumentsOf(args);
      // The framework has asked for the approval, so the model's own `confirm` does not count.
      const { confirm: _, ...others } = given;
      const sent = approvals === "model" ? given : { ...others, ...(isDestructive && { confirm: true }) };
      const request = {
        ...{ toolSlug: slug, entityId, maxBytes, argumentsJson: JSON.stringify(sent) },
        ...(callId !== undefined && { idempotencyKey: await keyOf(runId, callId) }),
      };
      return answerOf(() => tools.callTool(request, signal === undefined ? {} : { signal }));
    },
  };
}

/** Returns the arguments that a model gave. An argument that is not an object counts as missing, and svc then reports the problems. */
function argumentsOf(args: unknown): Record<string, unknown> {
  return typeof args === "object" && args !== null && !Array.isArray(args) ? { ...args } : {};
}

/** Returns the idempotency key of a call. It is a digest, because ids of frameworks can be long and can have any characters. */
async function keyOf(runId: string, callId: string): Promise<string> {
  return `agent-${await digestOf(JSON.stringify([runId, callId]))}`;
}

/** Returns the SHA-256 digest of a text in hexadecimal digits. */
export async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Returns the answer to a call for a model. Errors with which svc refused the request become part of the answer, so that the model can
 * correct it. Rejects with any other error, such as a network failure.
 */
async function answerOf(call: () => Promise<CallToolResponse>): Promise<ModelAnswer> {
  return withErrors(async () => {
    const { outcome, resultJson, message, retryable, warnings, faults, request, jobId, callId } = await call();
    if (outcome === "ok") return { outcome, result: JSON.parse(resultJson), ...(warnings.length > 0 && { warnings }) };
    return {
      ...{ outcome, message, retryable },
      ...(callId !== "" && { call_id: callId }),
      ...(faults.length > 0 && {
        faults: faults.map(({ pointer, message: problem, missing }) => ({ pointer, message: problem, missing })),
      }),
      ...(request !== undefined && {
        request: { method: request.method, url: request.url, body: request.bodyJson },
      }),
      ...(jobId !== "" && { job_id: jobId }),
    };
  });
}

/** Codes of errors that another request of the model cannot avoid: svc is not available, or does not accept the key. */
const programCodes = new Set(["REQUEST_MALFORMED", "API_KEY_INVALID", "API_KEY_MISSING"]);

/** Returns the answer of `make`, or the error with which svc refused the request. Rejects with errors that the model cannot correct. */
export async function withErrors(make: () => Promise<ModelAnswer>): Promise<ModelAnswer> {
  try {
    return await make();
  } catch (error) {
    const [detail] = svcErrorDetails(error);
    if (detail === undefined || programCodes.has(detail.reason) || !(error instanceof Error)) throw error;
    return { error: { reason: detail.reason, message: error.message, help: detail.help } };
  }
}
