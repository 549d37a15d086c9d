import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { requireProject, type Sealer } from "@svc/core";
import {
  type CatalogService,
  GetToolkitResponseSchema,
  ListToolkitsResponseSchema,
  ListToolsResponseSchema,
  ToolKind,
} from "@svc/gen/catalog";
import { projectNotFound, toolkitNotFound, toolNotFound } from "./errors.ts";
import { indexMessages } from "./index-messages.ts";
import type { Catalog } from "./model.ts";
import { pageOf } from "./page.ts";

/** What CatalogService works with. `isOauthRegistered` is asked at every read of a toolkit, so it may change its mind. */
export type CatalogServiceOptions = {
  readonly catalog: Catalog;
  /** Seals page tokens. */
  readonly sealer: Sealer;
  /** Whether the deployment holds an OAuth client for the toolkit. Default: for none. */
  readonly isOauthRegistered?: (toolkitSlug: string) => boolean;
};

/** CatalogService over a loaded catalog. The messages are made here, once: GetTool is a lookup. */
export function createCatalogService(options: CatalogServiceOptions): ServiceImpl<typeof CatalogService> {
  const { catalog, sealer, isOauthRegistered = () => false } = options;
  const index = indexMessages(catalog);
  const toolkitMessage = (slug: string) => {
    const messages = index.toolkits.get(slug);
    if (messages === undefined) throw toolkitNotFound(slug);
    return isOauthRegistered(slug) ? messages.registered : messages.unregistered;
  };
  return {
    listToolkits(request, ctx) {
      const projectId = checkProject(request.projectId, ctx);
      const scope = { call: "ListToolkits", projectId, filters: { projectId: request.projectId } };
      const toolkits = [...index.toolkits.keys()].map(toolkitMessage);
      const { items, nextPageToken } = pageOf(toolkits, request, { sealer, scope });
      return create(ListToolkitsResponseSchema, { toolkits: items, nextPageToken });
    },
    getToolkit(request, ctx) {
      checkProject(request.projectId, ctx);
      return create(GetToolkitResponseSchema, { toolkit: toolkitMessage(request.slug) });
    },
    listTools(request, ctx) {
      const projectId = checkProject(request.projectId, ctx);
      const { toolkitSlug, kind } = request;
      const filters = { projectId: request.projectId, toolkitSlug, kind };
      const candidates = toolkitSlug === "" ? index.toolList : (index.toolsOfToolkit.get(toolkitSlug) ?? []);
      const tools = kind === ToolKind.UNSPECIFIED ? candidates : candidates.filter((tool) => tool.kind === kind);
      const scope = { call: "ListTools", projectId, filters };
      const { items, nextPageToken } = pageOf(tools, request, { sealer, scope });
      return create(ListToolsResponseSchema, { tools: items, nextPageToken });
    },
    getTool(request, ctx) {
      checkProject(request.projectId, ctx);
      const response = index.tools.get(request.slug);
      if (response === undefined) throw toolNotFound(request.slug);
      return response;
    },
    getToolkitConnectSpec(request, ctx) {
      checkProject(request.projectId, ctx);
      const response = index.specs.get(request.slug);
      if (response === undefined) throw toolkitNotFound(request.slug);
      return response;
    },
  };
}

/** The key's project. A request names that one or none; any other reads as missing. */
function checkProject(projectId: string, ctx: HandlerContext): string {
  const own = requireProject(ctx).projectId;
  if (projectId !== "" && projectId !== own) throw projectNotFound(projectId);
  return own;
}
