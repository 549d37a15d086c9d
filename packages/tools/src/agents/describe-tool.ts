import { type CatalogView, nearest } from "@svc/catalog";
import { toolNotFound } from "../errors.ts";
import { answered, type ToolAnswer } from "./answer.ts";
import { toolData, toolText } from "./convert.ts";

/** Answers describe_tool: what GetTool says of the tool, its schemas as objects. Throws TOOL_NOT_FOUND. */
export function answerDescribe(view: CatalogView, { slug }: { readonly slug: string }): ToolAnswer {
  const tool = view.messages.tools.get(slug)?.tool;
  if (tool === undefined) throw toolNotFound("slug", slug, nearest(slug, view.tools.keys()));
  return answered(toolData(tool), toolText(tool));
}
