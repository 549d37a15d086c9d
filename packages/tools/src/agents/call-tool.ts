import type { ProjectPrincipal } from "@svc/core";
import type { CallRequest } from "../call/call-request.ts";
import type { ToolCaller } from "../call/call-tool.ts";
import { showResult } from "../call/shape.ts";
import { answerOf } from "../service/call-answer.ts";
import { readCallRequest } from "../service/call-request.ts";
import type { ToolAnswer } from "./answer.ts";
import { type CallHints, callData, callTexts } from "./convert.ts";
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

/** What a call of an agent's needs beside its arguments. */
export type AgentCall = {
  readonly caller: ToolCaller;
  readonly principal: ProjectPrincipal;
  /** How its answer advises to call again. */
  readonly hints: CallHints;
  /** Where the client can ask its user: the call that the user has said yes to. */
  readonly person?: CallRequest["person"];
  /** The definition to call by. Default: the one that the project sees. */
  readonly pinned?: CallRequest["pinned"];
};

/** Calls a tool and answers its result; what was only held is no error. Rejects as CallTool does. */
export async function answerCall(
  args: CallArguments,
  { caller, principal, hints, pinned, person }: AgentCall,
): Promise<ToolAnswer> {
  const request = {
    toolSlug: args.slug,
    args: args.arguments ?? {},
    entityId: args.entity_id,
    connectedAccountId: args.connected_account_id,
    idempotencyKey: args.idempotency_key,
    dryRun: args.dry_run,
    fields: args.fields,
    maxBytes: args.max_bytes ?? resultBytesDefault,
  };
  const { shape, ...call } = readCallRequest(request, principal);
  const called = await caller.call({ ...call, pinned, person });
  const answer = answerOf(called);
  const shown = showResult(answer, shape);
  const texts = callTexts(args.slug, { answer, shown, hints });
  const name = answer.askFor;
  return {
    ...(name !== undefined && { askUser: { name, text: texts.join("\n") } }),
    texts,
    structured: callData(answer, shown),
    isError: called.outcome !== "held" && answer.result.outcome !== "ok",
  };
}
