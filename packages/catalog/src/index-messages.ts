import { create } from "@bufbuild/protobuf";
import {
  type GetToolkitConnectSpecResponse,
  GetToolkitConnectSpecResponseSchema,
  type GetToolResponse,
  GetToolResponseSchema,
  type Tool as ToolMessage,
} from "@svc/gen/catalog";
import { toConnectSpec, toToolMessage } from "./convert.ts";
import type { Catalog, Tool } from "./model.ts";

/** What CatalogService answers, made once for a catalog. Maps are ordered by slug; messages are shared, never changed. */
export type MessageIndex = {
  readonly specs: ReadonlyMap<string, GetToolkitConnectSpecResponse>;
  readonly tools: ReadonlyMap<string, GetToolResponse>;
  readonly toolList: readonly ToolMessage[];
  readonly toolsOfToolkit: ReadonlyMap<string, readonly ToolMessage[]>;
};

/** One message a tool, however many catalogs it stands in: making it is what costs. */
const toolMessages = new WeakMap<Tool, ToolMessage>();

function toolMessage(tool: Tool): ToolMessage {
  const known = toolMessages.get(tool);
  if (known !== undefined) return known;
  const made = toToolMessage(tool);
  toolMessages.set(tool, made);
  return made;
}

/** Makes the messages of a catalog. */
export function indexMessages(catalog: Catalog): MessageIndex {
  const toolList = [...catalog.tools.values()].map(toolMessage);
  const toolkits = [...catalog.toolkits.values()];
  return {
    specs: new Map(
      toolkits.map((toolkit) => {
        return [toolkit.slug, create(GetToolkitConnectSpecResponseSchema, { spec: toConnectSpec(toolkit) })];
      }),
    ),
    tools: new Map(toolList.map((tool) => [tool.slug, create(GetToolResponseSchema, { tool })])),
    toolList,
    toolsOfToolkit: Map.groupBy(toolList, ({ toolkitSlug }) => toolkitSlug),
  };
}
