import type { CallOptions, Client } from "@connectrpc/connect";
import type { CallToolResponse, ToolsService } from "@svc/gen/tools";
import { parseKeepingDigits } from "./json.ts";

/** The types of one tool. A file that `svc types` prints has them for each tool. */
export type ToolTypes = { readonly arguments: object; readonly result: unknown };

/** The tools of a client without types: any slug, any arguments, and a result that the caller must check. */
export type AnyTools = {
  readonly [slug: string]: { readonly arguments: Record<string, unknown>; readonly result: unknown };
};

/** Options of one tool call. */
export type ToolCallOptions = CallOptions & {
  /** Id of the entity (customer or user) whose account in the app svc uses. */
  readonly entityId?: string;
  /** Id of the account to use instead of `entityId`. */
  readonly connectedAccountId?: string;
  /** Key of up to 200 characters that makes the call safe to repeat. Without it, svc executes every call. */
  readonly idempotencyKey?: string;
  /** Maximum size of the result in bytes, from 256. svc shortens lists to fit. */
  readonly maxBytes?: number;
};

/** The typed calls of ToolsService, and `call`, which calls a tool and returns its result. */
export type ToolsClient<Tools extends { [Slug in keyof Tools]: ToolTypes } = AnyTools> = Client<typeof ToolsService> & {
  /**
   * Calls a tool and returns its result as an object. `slug`: the tool, such as `calendar.list_events`. A number of the result that a double
   * cannot hold exactly (such as an id of 19 digits) is a text with its digits, even if its type is number. Rejects with a SvcToolError if
   * the call has another outcome than `ok`, for example if the app refused it. Rejects with a ConnectError if svc refused the request.
   */
  call<Slug extends keyof Tools & string>(
    slug: Slug,
    args: Tools[Slug]["arguments"],
    options?: ToolCallOptions,
  ): Promise<Tools[Slug]["result"]>;
};

/**
 * Outcome of a tool call that returned no result. Each is explained at the field `outcome` of CallToolResponse. Nothing was executed in
 * the app, except maybe for `timeout`, `provider_error` and `outcome_unknown`.
 */
export type ToolFailure =
  | "held"
  | "invalid_arguments"
  | "no_account"
  | "account_unusable"
  | "missing_scope"
  | "not_callable"
  | "not_bound"
  | "rate_limited"
  | "provider_error"
  | "timeout"
  | "unreachable"
  | "outcome_unknown";

/** Error of a tool call that returned no result. */
export class SvcToolError extends Error {
  override readonly name = "SvcToolError";
  /** Slug of the tool, such as `calendar.list_events`. */
  readonly toolSlug: string;
  /** Outcome of the call, for programs to branch on. */
  readonly outcome: ToolFailure;
  /** The whole answer of svc, with the problems of the arguments (`faults`), `retryable`, and the job that asks a person (`jobId`). */
  readonly response: CallToolResponse;

  constructor(toolSlug: string, response: CallToolResponse) {
    super(`${toolSlug}: ${response.outcome}: ${response.message}`);
    this.toolSlug = toolSlug;
    this.outcome = response.outcome as ToolFailure;
    this.response = response;
  }
}

/** Returns the client of ToolsService with the method `call`. */
export function withToolCall<Tools extends { [Slug in keyof Tools]: ToolTypes }>(
  client: Client<typeof ToolsService>,
): ToolsClient<Tools> {
  return {
    ...client,
    async call(slug, args, { entityId, connectedAccountId, idempotencyKey, maxBytes, ...options } = {}) {
      const response = await client.callTool(
        {
          toolSlug: slug,
          argumentsJson: JSON.stringify(args),
          ...(entityId !== undefined && { entityId }),
          ...(connectedAccountId !== undefined && { connectedAccountId }),
          ...(idempotencyKey !== undefined && { idempotencyKey }),
          ...(maxBytes !== undefined && { maxBytes }),
        },
        options,
      );
      if (response.outcome !== "ok") throw new SvcToolError(slug, response);
      return parseKeepingDigits(response.resultJson) as Tools[typeof slug]["result"];
    },
  };
}
