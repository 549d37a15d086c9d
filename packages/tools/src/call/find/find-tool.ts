import { type CatalogViews, nearest } from "@svc/catalog";
import type { CodeContext } from "../call-code.ts";
import type { CallReply } from "../call-reply.ts";
import type { CallRequest } from "../call-request.ts";
import type { CallPlan } from "../prepare/prepared-call.ts";
import { type BoundRefusal, refusalOfTool } from "./bind.ts";

/** Objects that `findTool` needs to find the called tool: the catalogs of projects, and a function that finds tools not listed there. */
export type FindContext = Pick<CodeContext, "findCode"> & { readonly views: CatalogViews };

/**
 * Returns the tool to call. This is the stored tool definition `pinned` if the request has one, otherwise the project's tool with this
 * slug. Returns a refusal if the tool is unknown or not permitted.
 */
export async function findTool(
  { views, findCode }: FindContext,
  { caller, toolSlug, pinned }: CallRequest,
): Promise<Pick<CallPlan, "tool" | "toolkit"> | BoundRefusal | (CallReply & { outcome: "no_such_tool" })> {
  const { binding } = caller;
  if (pinned !== undefined) {
    return refusalOfTool(binding, pinned.action) ?? { tool: pinned.action, toolkit: pinned.toolkit };
  }
  const view = await views.forProject(caller.projectId);
  const tool = view.tools.get(toolSlug) ?? (await findCode?.(caller.projectId, toolSlug));
  const toolkit = tool && view.toolkits.get(tool.toolkitSlug);
  if (tool !== undefined && toolkit !== undefined) return refusalOfTool(binding, tool) ?? { tool, toolkit };
  return { outcome: "no_such_tool", toolSlug, meant: nearest(toolSlug, view.tools.keys()) };
}
