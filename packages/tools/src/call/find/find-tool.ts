import { type Action, type CatalogView, type CatalogViews, nearest } from "@svc/catalog";
import { accessClasses } from "@svc/db/schema/words";
import type { CodeContext } from "../call-code.ts";
import type { CallReply } from "../call-reply.ts";
import type { CallRequest } from "../call-request.ts";
import type { CallPlan } from "../prepare/prepared-call.ts";
import { type BoundRefusal, refusalOfTool } from "./bind.ts";

/** Objects that `findTool` needs to find the called tool: the catalogs of projects, and a function that finds tools not listed there. */
export type FindContext = Pick<CodeContext, "findCode"> & { readonly views: CatalogViews };

/**
 * Returns the tool to call. This is the stored tool definition `pinned` if the request has one, otherwise the project's tool with this
 * slug. A pinned tool of an MCP server has the arguments and the result that an approver has accepted since. Returns a refusal if the tool
 * is unknown or not permitted.
 */
export async function findTool(
  { views, findCode }: FindContext,
  { caller, toolSlug, pinned }: CallRequest,
): Promise<Pick<CallPlan, "tool" | "toolkit"> | BoundRefusal | (CallReply & { outcome: "no_such_tool" })> {
  const { binding } = caller;
  if (pinned !== undefined) {
    const refusal = refusalOfTool(binding, pinned.action);
    if (refusal !== undefined || pinned.action.mcp === undefined) return refusal ?? foundOf(pinned);
    return foundOf(acceptedSince(pinned, await views.forProject(caller.projectId)));
  }
  const view = await views.forProject(caller.projectId);
  const tool = view.tools.get(toolSlug) ?? (await findCode?.(caller.projectId, toolSlug));
  const toolkit = tool && view.toolkits.get(tool.toolkitSlug);
  if (tool !== undefined && toolkit !== undefined) return refusalOfTool(binding, tool) ?? { tool, toolkit };
  return { outcome: "no_such_tool", toolSlug, meant: nearest(toolSlug, view.tools.keys()) };
}

type PinnedTool = NonNullable<CallRequest["pinned"]>;

function foundOf({ action, toolkit }: PinnedTool): Pick<CallPlan, "tool" | "toolkit"> {
  return { tool: action, toolkit };
}

/**
 * Returns a pinned tool of an MCP server as an approver has accepted it since. Without this, a job could never call a tool again whose
 * description has changed. The tool cannot be called if its new access class is stricter, because the job was accepted with the old one.
 */
function acceptedSince(pinned: PinnedTool, { tools, toolkits }: CatalogView): PinnedTool {
  const { action, toolkit } = pinned;
  const now = tools.get(action.slug);
  if (now?.kind !== "action" || now.mcp === undefined || now.mcp.digest === action.mcp?.digest) return pinned;
  // Accounts belong to an origin. After a change of the origin, the call fails with the reason that the account gives.
  if (toolkits.get(toolkit.slug)?.originDigest !== toolkit.originDigest) return pinned;
  if (!isStricter(now.class, action.class)) return { toolkit, action: now };
  const uncallableReason = `Its access class is ${now.class} since an approver accepted a change, and was ${action.class}.`;
  return { toolkit, action: { ...action, callable: false, uncallableReason } };
}

function isStricter(one: Action["class"], other: Action["class"]): boolean {
  return accessClasses.indexOf(one) > accessClasses.indexOf(other);
}

/**
 * Returns the arguments of a call without `confirm` if the tool does not have this argument any more. This happens if the calling program
 * was checked when the tool was still destructive, and the tool is now in another class.
 */
export function argumentsFor({ args, pinned }: CallRequest, tool: CallPlan["tool"]): CallRequest["args"] {
  if (pinned?.action.class !== "destructive" || tool.class === "destructive") return args;
  const { confirm: _confirm, ...others } = args;
  return others;
}
