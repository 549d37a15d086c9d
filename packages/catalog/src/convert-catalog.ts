import { create } from "@bufbuild/protobuf";
import { shareMessage } from "@svc/core";
import {
  type GetToolkitConnectSpecResponse,
  GetToolkitConnectSpecResponseSchema,
  type GetToolResponse,
  GetToolResponseSchema,
  type ListToolsResponse,
  ListToolsResponseSchema,
  ToolKind,
  type Tool as ToolMessage,
} from "@svc/gen/catalog";
import { toConnectSpec, toToolMessage } from "./convert.ts";
import type { Catalog, Tool } from "./model.ts";
import { catalogPageMax } from "./page.ts";

/** What CatalogService answers, made once for a catalog. Maps are ordered by slug; messages are shared, never changed. */
export type MessageIndex = {
  readonly specs: ReadonlyMap<string, GetToolkitConnectSpecResponse>;
  readonly tools: ReadonlyMap<string, GetToolResponse>;
  readonly toolList: readonly ToolMessage[];
  readonly toolsOfToolkit: ReadonlyMap<string, readonly ToolMessage[]>;
  /** ListTools without a filter but the kind, where one page holds them all; made when it is first asked for. */
  allTools(kind: ToolKind): ListToolsResponse | undefined;
};

/** One message a tool, however many catalogs it stands in: making it is what costs. */
const toolMessages = new WeakMap<Tool, ToolMessage>();

function toolMessage(tool: Tool): ToolMessage {
  const known = toolMessages.get(tool);
  if (known !== undefined) return known;
  const made = shareMessage(toToolMessage(tool));
  toolMessages.set(tool, made);
  return made;
}

/** Makes the messages of a catalog. */
export function indexMessages(catalog: Catalog): MessageIndex {
  const toolList = [...catalog.tools.values()].map(toolMessage);
  const toolkits = [...catalog.toolkits.values()];
  const whole = new Map<ToolKind, ListToolsResponse>();
  return {
    specs: new Map(
      toolkits.map((toolkit) => {
        const spec = toConnectSpec(toolkit);
        return [toolkit.slug, shareMessage(create(GetToolkitConnectSpecResponseSchema, { spec }))];
      }),
    ),
    tools: new Map(toolList.map((tool) => [tool.slug, shareMessage(create(GetToolResponseSchema, { tool }))])),
    toolList,
    toolsOfToolkit: Map.groupBy(toolList, ({ toolkitSlug }) => toolkitSlug),
    allTools(kind) {
      let response = whole.get(kind);
      if (response === undefined) {
        const tools = toolsOfKind(toolList, kind);
        if (tools.length > catalogPageMax) return undefined;
        response = shareMessage(create(ListToolsResponseSchema, { tools: [...tools] }));
        whole.set(kind, response);
      }
      return response;
    },
  };
}

/** The tools of a kind; all of them for none. */
export function toolsOfKind(tools: readonly ToolMessage[], kind: ToolKind): readonly ToolMessage[] {
  return kind === ToolKind.UNSPECIFIED ? tools : tools.filter((tool) => tool.kind === kind);
}
