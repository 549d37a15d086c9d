import { isPlayed, type SandboxMode, withoutExcess, withoutOptionalNulls } from "@svc/catalog";
import { type Clock, createId } from "@svc/core";
import { httpToolkit } from "../../http/http-tool.ts";
import type { CallRequest } from "../call-request.ts";
import { accountOf } from "../gate/hooked-call.ts";
import { deriveKey, digestCall } from "../gate/idempotency.ts";
import type { CallPlan } from "../prepare/prepared-call.ts";
import type { LedgerEntry } from "../record/ledger.ts";

/** Dependencies of planning a call. `sandboxMode`: says for which apps the sandbox of svc answers. */
export type PlanContext = { readonly clock: Clock; readonly sandboxMode: SandboxMode };

/** Returns the plan of a call: the known tool, and the arguments to send. Arguments that the tool's schema does not allow are removed. */
export function planCall(
  context: PlanContext,
  asked: CallRequest,
  { tool, toolkit }: Found,
): { readonly entry: LedgerEntry; readonly plan: CallPlan } {
  // True if the call is for an action of an app. For such a call, excess arguments are removed before all other checks, because those
  // checks take time for each argument.
  const isJudged = tool.kind === "action";
  const { kept, faults: excess } = isJudged
    ? withoutExcess(tool.inputSchema, asked.args)
    : { kept: asked.args, faults: [] };
  // Optional arguments with the value null are removed. So a call with them and a call without them get the same digest and the same
  // idempotency key for the app, and count as the same call.
  const args = withoutOptionalNulls(tool.inputSchema, kept) as CallRequest["args"];
  const entry = entryOf(context, { asked, args, tool, toolkit });
  const derived = () => deriveKey(entry.caller.projectId, entry.idempotencyKey ?? entry.id, entry.callDigest);
  const appKey = asked.appKey ?? (entry.takesAppKey === true ? derived() : "");
  const { callDigest } = entry;
  const keepsAppKey = asked.appKey !== undefined;
  return { entry, plan: { ...asked, args, callDigest, excess, tool, toolkit, appKey, keepsAppKey } };
}

type Found = Pick<CallPlan, "tool" | "toolkit">;

function entryOf(
  { clock, sandboxMode }: PlanContext,
  { asked, args, tool, toolkit }: Found & { readonly asked: CallRequest; readonly args: CallRequest["args"] },
): LedgerEntry {
  const { caller, entityId, idempotencyKey, job } = asked;
  // The same time is used for the id and for `createdAt`, because lists find calls by the time in their ids.
  const createdAt = clock.now();
  return {
    id: createId("call", createdAt),
    caller,
    action: tool.kind === "trigger" ? undefined : tool,
    toolSlug: tool.slug,
    accessClass: tool.class,
    entityId,
    args,
    callDigest: digestCall({ toolSlug: tool.slug, account: accountOf(asked), args }),
    idempotencyKey,
    job,
    createdAt,
    takesAppKey: tool.kind === "action" && tool.idempotency !== undefined,
    // Code of svc, and HTTP requests that a program makes itself, have only one side.
    isPlayed: tool.kind === "code" || toolkit === httpToolkit ? undefined : isPlayed(toolkit, sandboxMode),
  };
}
