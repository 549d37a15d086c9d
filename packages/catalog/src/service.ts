import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  type Binding,
  isToolGranted,
  isToolkitGranted,
  type ProjectId,
  quotaFaults,
  requireProject,
  type Sealer,
} from "@svc/core";
import type { CatalogService, Toolkit as ToolkitMessage, Tool as ToolMessage } from "@svc/gen/catalog";
import { classToConfirm } from "./class-to-confirm.ts";
import { toToolkitMessage } from "./convert.ts";
import { toolsInView, toolsOfKind } from "./convert-catalog.ts";
import { DefinitionError, type DefinitionFault } from "./definition-error.ts";
import { catalogFaults } from "./errors.ts";
import type { Tool, Toolkit } from "./model.ts";
import { pageOf } from "./page.ts";
import { parsePrivateToolkit } from "./private/parse-definition.ts";
import type { CatalogViews } from "./private/private-toolkits.ts";
import type { CatalogView } from "./view.ts";

/** What CatalogService works with. `isOauthRegistered` is asked at every read of a toolkit, so it may change its mind. */
export type CatalogServiceOptions = {
  readonly views: CatalogViews;
  /** Seals page tokens. */
  readonly sealer: Sealer;
  /** Whether the deployment holds an OAuth client for the toolkit. */
  readonly isOauthRegistered: (toolkit: Toolkit) => boolean;
};

/** CatalogService over the shared definitions and those of the key's project. Messages are made once: GetTool is a lookup. */
export function createCatalogService(options: CatalogServiceOptions): ServiceImpl<typeof CatalogService> {
  const { views, sealer, isOauthRegistered } = options;
  const inTurn = createTurns();
  const toolkitMessage = (toolkit: Toolkit): ToolkitMessage => toToolkitMessage(toolkit, isOauthRegistered(toolkit));
  /** The shared catalog, or with the key's own project named, what that project sees. */
  const viewFor = async (projectId: string, ctx: HandlerContext): Promise<CatalogView> => {
    const own = ownProject(projectId, ctx);
    return projectId === "" ? views.shared : views.forProject(own);
  };
  return {
    async listToolkits(request, ctx) {
      const view = await viewFor(request.projectId, ctx);
      const scope = scopeOf("ListToolkits", ctx, { projectId: request.projectId });
      const { items, nextPageToken } = pageOf(
        [...view.toolkits.values()].filter(({ slug }) => isToolkitGranted(bindingOfCall(ctx), slug)),
        request,
        { sealer, scope },
      );
      return { toolkits: items.map(toolkitMessage), nextPageToken };
    },
    async getToolkit(request, ctx) {
      const view = await viewFor(request.projectId, ctx);
      const toolkit = view.toolkits.get(request.slug);
      if (toolkit === undefined || !isToolkitGranted(bindingOfCall(ctx), request.slug))
        throw catalogFaults.TOOLKIT_NOT_FOUND("slug", request.slug, view);
      return { toolkit: toolkitMessage(toolkit) };
    },
    async listTools(request, ctx) {
      const { messages } = await viewFor(request.projectId, ctx);
      const { toolkitSlug, kind, view, pageSize, pageToken } = request;
      const binding = bindingOfCall(ctx);
      const whole =
        binding === undefined && toolkitSlug === "" && pageSize === 0 && pageToken === ""
          ? messages.allTools(kind, view)
          : undefined;
      if (whole !== undefined) return whole;
      const candidates = toolkitSlug === "" ? messages.toolList : (messages.toolsOfToolkit.get(toolkitSlug) ?? []);
      const tools = toolsOfKind(candidates, kind).filter((tool) => isMessageGranted(tool, binding));
      const scope = scopeOf("ListTools", ctx, { projectId: request.projectId, toolkitSlug, kind });
      const { items, nextPageToken } = pageOf(tools, request, { sealer, scope });
      return { tools: toolsInView(items, view), nextPageToken };
    },
    async getTool(request, ctx) {
      const view = await viewFor(request.projectId, ctx);
      const response = view.messages.tools.get(request.slug);
      if (response?.tool === undefined || !isMessageGranted(response.tool, bindingOfCall(ctx)))
        throw catalogFaults.TOOL_NOT_FOUND(request.slug, view);
      return response;
    },
    async getToolkitConnectSpec(request, ctx) {
      const view = await viewFor(request.projectId, ctx);
      const response = view.messages.specs.get(request.slug);
      if (response === undefined || !isToolkitGranted(bindingOfCall(ctx), request.slug))
        throw catalogFaults.TOOLKIT_NOT_FOUND("slug", request.slug, view);
      return response;
    },
    async publishToolkit({ definitionJson, dryRun }, ctx) {
      const { projectId } = requireProject(ctx);
      const toolkit = await inTurn(projectId, () => parseDefinition(definitionJson, projectId));
      const lowered = [...faultsOfLowered(toolkit, views.shared), ...faultsOfIdentify(toolkit)];
      if (lowered.length > 0) throw catalogFaults.DEFINITION_INVALID(new DefinitionError(lowered));
      const reached = dryRun ? undefined : await views.publish(projectId, toolkit, definitionJson);
      if (reached !== undefined) throw quotaFaults.privateToolkits(reached.quotaReached);
      const toolSlugs = toolkit.actions.map(({ slug }) => slug);
      return { toolkit: toolkitMessage(toolkit), toolSlugs };
    },
    async deleteToolkit({ slug }, ctx) {
      const { projectId } = requireProject(ctx);
      if (!(await views.remove(projectId, slug))) throw catalogFaults.PRIVATE_TOOLKIT_NOT_FOUND(slug);
      return {};
    },
  };
}

const ranks = { read: 0, write: 1, destructive: 2 };

/** Tools that have a lower class than the shared tool that they hide. */
function faultsOfLowered({ actions }: Toolkit, { tools }: CatalogView): DefinitionFault[] {
  return actions.flatMap(({ slug, name, class: declared }) => {
    const hidden = tools.get(slug)?.class ?? declared;
    const [file, path, cure] = [`tools.${name}`, "class", `write ${hidden}`];
    const reason = `is ${declared}, and the shared tool ${slug} that it hides is ${hidden}`;
    return ranks[declared] < ranks[hidden] ? [{ file, path, reason, cure }] : [];
  });
}

/** A tool that connecting sends unasked, though a person would confirm it. */
function faultsOfIdentify({ identify, actions }: Toolkit): DefinitionFault[] {
  const action = actions.find(({ name }) => name === identify?.tool);
  if (action === undefined || classToConfirm(action) === "read") return [];
  const reason = `"${action.name}" sends a ${action.request.method}, and connecting sends it unasked`;
  return [{ file: "toolkit", path: "identify.tool", reason, cure: "name a tool that sends a GET" }];
}

async function parseDefinition(definitionJson: string, projectId: ProjectId): Promise<Toolkit> {
  try {
    return await parsePrivateToolkit(definitionJson, projectId);
  } catch (error) {
    if (error instanceof DefinitionError) throw catalogFaults.DEFINITION_INVALID(error);
    throw error;
  }
}

/** Runs tasks of one project one after the other: checking a definition takes a core while it lasts. */
function createTurns() {
  const last = new Map<ProjectId, Promise<unknown>>();
  return async <T>(projectId: ProjectId, task: () => Promise<T>): Promise<T> => {
    const before = last.get(projectId) ?? Promise.resolve();
    const mine = before.then(task, task);
    last.set(projectId, mine);
    try {
      return await mine;
    } finally {
      if (last.get(projectId) === mine) last.delete(projectId);
    }
  };
}

/** The key's project. A request names that one or none; any other reads as missing. */
function ownProject(projectId: string, ctx: HandlerContext): ProjectId {
  const own = requireProject(ctx).projectId;
  if (projectId !== "" && projectId !== own) throw catalogFaults.PROJECT_NOT_FOUND(projectId);
  return own;
}

function scopeOf(call: string, ctx: HandlerContext, filters: Record<string, string | number>) {
  return { call, projectId: requireProject(ctx).projectId, filters };
}

/** What the caller is bound to: it sees what it may use alone. */
function bindingOfCall(ctx: HandlerContext): Binding | undefined {
  return requireProject(ctx).binding;
}

function isMessageGranted(
  { toolkitSlug, accessClass }: Pick<ToolMessage, "toolkitSlug" | "accessClass">,
  binding: Binding | undefined,
): boolean {
  return isToolGranted(binding, { toolkitSlug, class: accessClass as Tool["class"] });
}
