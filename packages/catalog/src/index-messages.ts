import { create } from "@bufbuild/protobuf";
import {
  type GetToolkitConnectSpecResponse,
  GetToolkitConnectSpecResponseSchema,
  type GetToolResponse,
  GetToolResponseSchema,
  type Toolkit as ToolkitMessage,
  type Tool as ToolMessage,
} from "@svc/gen/catalog";
import { toConnectSpec, toToolkitMessage, toToolMessage } from "./convert.ts";
import type { Catalog } from "./model.ts";

/** A toolkit's two messages: with an OAuth registration and without. */
type ToolkitMessages = { readonly registered: ToolkitMessage; readonly unregistered: ToolkitMessage };

/** Everything CatalogService answers, made once for a catalog. Maps are ordered by slug; messages are shared, never changed. */
export type MessageIndex = {
  readonly toolkits: ReadonlyMap<string, ToolkitMessages>;
  readonly specs: ReadonlyMap<string, GetToolkitConnectSpecResponse>;
  readonly tools: ReadonlyMap<string, GetToolResponse>;
  readonly toolList: readonly ToolMessage[];
  readonly toolsOfToolkit: ReadonlyMap<string, readonly ToolMessage[]>;
};

/** Makes the messages of a catalog. */
export function indexMessages(catalog: Catalog): MessageIndex {
  const toolList = [...catalog.tools.values()].map(toToolMessage);
  const toolkits = [...catalog.toolkits.values()];
  return {
    toolkits: new Map(
      toolkits.map((toolkit) => {
        const registered = toToolkitMessage(toolkit, true);
        return [toolkit.slug, { registered, unregistered: toToolkitMessage(toolkit, false) }];
      }),
    ),
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
