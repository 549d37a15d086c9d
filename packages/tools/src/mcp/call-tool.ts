import type { ProjectPrincipal } from "@svc/core";
import type { ToolCaller } from "../call/call-tool.ts";
import { toCallToolResponse } from "../convert.ts";
import { answerOf } from "../service/call-answer.ts";
import { type AskedCall, readCallRequest } from "../service/call-request.ts";
import type { MetaToolAnswer } from "./answer.ts";
import { callData, callTexts } from "./convert.ts";
import { resultBytesDefault } from "./meta-tools.ts";

/** Arguments of call_tool, as its schema lets them through. */
export type CallArguments = {
  readonly slug: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly entity_id?: string;
  readonly connected_account_id?: string;
  readonly idempotency_key?: string;
  readonly dry_run?: boolean;
  readonly fields?: string[];
  readonly max_bytes?: number;
};

/** Calls a tool and answers call_tool; what was only held is no error. Rejects as CallTool does. */
export async function answerCall(
  caller: ToolCaller,
  principal: ProjectPrincipal,
  args: CallArguments,
): Promise<MetaToolAnswer> {
  const request: AskedCall = {
    toolSlug: args.slug,
    argumentsJson: "",
    args: args.arguments ?? {},
    entityId: args.entity_id ?? "",
    connectedAccountId: args.connected_account_id ?? "",
    idempotencyKey: args.idempotency_key ?? "",
    dryRun: args.dry_run ?? false,
    fields: args.fields ?? [],
    maxBytes: args.max_bytes ?? resultBytesDefault,
  };
  const { shape, ...call } = readCallRequest(request, principal);
  const called = await caller.call(call);
  const answer = answerOf(called);
  const response = toCallToolResponse(answer, shape);
  return {
    texts: callTexts(args.slug, response),
    structured: callData(response),
    isError: called.outcome !== "held" && answer.result.outcome !== "ok",
  };
}
