import { type JsonObject, toJson } from "@bufbuild/protobuf";
import type { CatalogView } from "@svc/catalog";
import { type Tool, ToolSchema } from "@svc/gen/catalog";
import { toolNotFound } from "../errors.ts";
import { answered, type MetaToolAnswer } from "./answer.ts";

/** Answers describe_tool: what GetTool says of the tool, its schemas as objects. Throws TOOL_NOT_FOUND. */
export function answerDescribe(view: CatalogView, { slug }: { readonly slug: string }): MetaToolAnswer {
  const tool = view.messages.tools.get(slug)?.tool;
  if (tool === undefined) throw toolNotFound("slug", slug, view.tools.keys());
  return answered(structuredOf(tool), textOf(tool));
}

function structuredOf(tool: Tool): Record<string, unknown> {
  const message = toJson(ToolSchema, tool, { alwaysEmitImplicit: true }) as JsonObject;
  const { inputSchemaJson: _, outputSchemaJson: __, ...rest } = message;
  return { ...rest, inputSchema: JSON.parse(tool.inputSchemaJson), outputSchema: JSON.parse(tool.outputSchemaJson) };
}

function textOf({
  slug,
  accessClass,
  callable,
  description,
  requiredScopes,
  inputSchemaJson,
  outputSchemaJson,
}: Tool): string {
  const notes = [
    ...(callable ? [] : ["It cannot be called."]),
    ...(accessClass === "destructive" ? ['It is held until its arguments carry "confirm": true.'] : []),
    ...(requiredScopes.length === 0 ? [] : [`Its account needs the scopes ${requiredScopes.join(" ")}.`]),
  ];
  return [
    `${slug} [${accessClass}]`,
    [description.trim(), ...notes].join("\n"),
    `Arguments: ${inputSchemaJson}`,
    `Result: ${outputSchemaJson}`,
  ].join("\n\n");
}
