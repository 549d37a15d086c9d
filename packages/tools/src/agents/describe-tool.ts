import type { CatalogView } from "@svc/catalog";
import type { Binding } from "@svc/core";
import { describedTool } from "../service/described-tool.ts";
import { answered, type ToolAnswer } from "./answer.ts";
import { toolData, toolText } from "./convert.ts";

/** Answers describe_tool: what GetTool says of the tool, its schemas as objects. Throws TOOL_NOT_FOUND. */
export function answerDescribe(
  view: CatalogView,
  { slug }: { readonly slug: string },
  binding: Binding | undefined,
): ToolAnswer {
  const tool = describedTool(view, binding, slug);
  return answered(toolData(tool), toolText(tool));
}
