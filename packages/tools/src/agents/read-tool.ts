import { type CatalogView, nearest } from "@svc/catalog";
import { isToolGranted } from "@svc/core";
import { toolFaults } from "../errors.ts";
import type { ToolAnswer } from "./answer.ts";
import { type AgentCall, answerCall, type CallArguments } from "./call-tool.ts";

/** Arguments of read_tool, as its schema lets them through. */
export type ReadArguments = Omit<CallArguments, "idempotency_key" | "dry_run">;

/** Calls a tool that reads and answers its result. Throws TOOL_NOT_FOUND and TOOL_NOT_READ, else rejects as CallTool does. */
export async function answerRead(view: CatalogView, args: ReadArguments, call: AgentCall): Promise<ToolAnswer> {
  const tool = view.tools.get(args.slug);
  const toolkit = tool && view.toolkits.get(tool.toolkitSlug);
  if (tool === undefined || toolkit === undefined)
    throw toolFaults.TOOL_NOT_FOUND("slug", args.slug, nearest(args.slug, view.tools.keys()));
  // Of what a key may not call it is told that alone.
  if (tool.class !== "read" && isToolGranted(call.principal.binding, tool))
    throw toolFaults.TOOL_NOT_READ(tool.slug, tool.class);
  // Called by the definition that was judged: a toolkit may be published anew meanwhile.
  return answerCall(args, { ...call, ...(tool.kind === "action" && { pinned: { toolkit, action: tool } }) });
}
