import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Binding,
  byText,
  type Clock,
  isToolGranted,
  isToolkitGranted,
  type ProjectId,
  type ProjectPrincipal,
  projectList,
  quotaFaults,
  requireProject,
  type Sealer,
} from "@svc/core";
import { privateToolkitsForProject } from "@svc/db/catalog/repo";
import type { Database } from "@svc/db/connect";
import { countOpenKeys } from "@svc/db/keys/repo";
import {
  type CatalogService,
  type ListToolsRequest,
  ToolkitConnectability,
  type Toolkit as ToolkitMessage,
  ToolkitSchema,
  type Tool as ToolMessage,
} from "@svc/gen/catalog";
import { importShared } from "./bound/service-bound.ts";
import { catalogPageMax, toolsInView, toolsOfKind } from "./convert-catalog.ts";
import { catalogFaults } from "./errors.ts";
import { importSource, reportMessage } from "./import/convert-import.ts";
import type { ToolkitImporter } from "./import/import-toolkit.ts";
import type { AuthScheme, Tool, Toolkit } from "./model.ts";
import { buildCheckedToolkit, checkDefinitionSize, parsePrivateToolkit } from "./private/parse-definition.ts";
import { checkPhrases, phrasesText } from "./private/phrases.ts";
import type { CatalogViews } from "./private/private-toolkits.ts";
import { createPublisher } from "./private/publish.ts";
import { DefinitionError } from "./read/definition-file.ts";
import { isPlayed, type SandboxMode } from "./sandbox-mode.ts";
import { createSourceCalls, createToolStates, hasStates } from "./source/service-source.ts";
import { newSource } from "./source/source-options.ts";
import type { CatalogView, ToolkitSourceState } from "./view/view.ts";

/**
 * Dependencies of CatalogService. `isOauthRegistered` is called each time a toolkit (the tools of one app) is read, so its result may
 * change.
 */
export type CatalogServiceOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly views: CatalogViews;
  /** Encrypts the page tokens of lists, so that callers cannot read or change them. */
  readonly sealer: Sealer;
  /** True if there is an OAuth client for the toolkit's app: one of the deployment or, for a private toolkit, one of the project. */
  readonly isOauthRegistered: (toolkit: Toolkit) => boolean | Promise<boolean>;
  /** For which toolkits (apps) the sandbox answers instead of the app. */
  readonly sandboxMode: SandboxMode;
  /** Makes toolkits (each the tools of one app) from OpenAPI documents. */
  readonly importer: ToolkitImporter;
  /** Time in milliseconds after which svc reads the tools of an imported MCP server again. */
  readonly mcpEveryMs: number;
};

/**
 * Creates CatalogService. It returns the shared toolkits, and the private toolkits (published by one project) of the calling key's project.
 * The API messages are created once, so GetTool is only a lookup.
 */
export function createCatalogService(options: CatalogServiceOptions): ServiceImpl<typeof CatalogService> {
  const { db, clock, views, sealer, isOauthRegistered, sandboxMode, importer, mcpEveryMs } = options;
  const inTurn = createTurns();
  const toMessage = (toolkit: Toolkit, isRegistered: boolean, source?: ToolkitSourceState): ToolkitMessage =>
    toToolkitMessage(toolkit, isRegistered, { source, isLive: !isPlayed(toolkit, sandboxMode) });
  const toolkitMessage = async (toolkit: Toolkit, source?: ToolkitSourceState): Promise<ToolkitMessage> =>
    toMessage(toolkit, await isOauthRegistered(toolkit), source);
  /**
   * Returns the catalog view of the project that the request names. This must be the key's own project; any other project is reported as
   * not found. If the request names no project, returns the shared catalog.
   */
  const viewFor = async (projectId: string, caller: ProjectPrincipal): Promise<CatalogView> => {
    if (projectId !== "" && projectId !== caller.projectId) throw catalogFaults.PROJECT_NOT_FOUND(projectId);
    return projectId === "" ? views.shared : views.forProject(caller.projectId);
  };
  const publish = createPublisher(views);
  const withStates = createToolStates(db);
  const listPart = projectList(sealer, {
    ...{ call: "ListTools", order: bySlug, sizes: wholeLists },
    filter: ({ projectId, toolkitSlug, kind }: ListToolsRequest) => ({ projectId, toolkitSlug, kind }),
    async rows({ filter: { projectId, toolkitSlug, kind }, page: { after }, caller }) {
      const shown = await viewFor(projectId, caller);
      const { messages } = shown;
      const tools = toolkitSlug === "" ? messages.toolList : (messages.toolsOfToolkit.get(toolkitSlug) ?? []);
      const granted = toolsOfKind(tools, kind).filter((tool) => isMessageGranted(tool, caller.binding));
      return withStates(shown, caller.projectId, itemsAfter(granted, after));
    },
    answer: (rows, { request }) => ({ tools: toolsInView(rows, request.view) }),
  });
  return {
    listToolkits: projectList(sealer, {
      ...{ call: "ListToolkits", order: bySlug, sizes: wholeLists },
      filter: ({ projectId }) => ({ projectId }),
      async rows({ filter: { projectId }, page: { after }, caller }) {
        const { toolkits, sources } = await viewFor(projectId, caller);
        const granted = [...toolkits.values()].filter(({ slug }) => isToolkitGranted(caller.binding, slug));
        const rows = itemsAfter(granted, after);
        return Promise.all(rows.map((toolkit) => toolkitMessage(toolkit, sources.get(toolkit.slug))));
      },
      answer: (toolkits) => ({ toolkits: [...toolkits] }),
    }),
    async getToolkit(request, ctx) {
      const view = await viewFor(request.projectId, requireProject(ctx));
      const toolkit = view.toolkits.get(request.slug);
      if (toolkit === undefined || !isToolkitGranted(requireProject(ctx).binding, request.slug))
        throw catalogFaults.TOOLKIT_NOT_FOUND("slug", request.slug, view);
      return { toolkit: await toolkitMessage(toolkit, view.sources.get(toolkit.slug)) };
    },
    async listTools(request, ctx) {
      const { projectId, toolkitSlug, kind, view, pageSize, pageToken } = request;
      const caller = requireProject(ctx);
      const shown = await viewFor(projectId, caller);
      const isPlain = caller.binding === undefined && !hasStates(shown);
      const isWhole = isPlain && toolkitSlug === "" && pageSize === 0 && pageToken === "";
      return (isWhole ? shown.messages.allTools(kind, view) : undefined) ?? listPart(request, ctx);
    },
    async getTool(request, ctx) {
      const view = await viewFor(request.projectId, requireProject(ctx));
      const response = view.messages.tools.get(request.slug);
      if (response?.tool === undefined || !isMessageGranted(response.tool, requireProject(ctx).binding))
        throw catalogFaults.TOOL_NOT_FOUND(request.slug, view);
      const { projectId } = requireProject(ctx);
      const [tool] = await withStates(view, projectId, [response.tool]);
      return tool === response.tool ? response : { tool };
    },
    async getToolkitConnectSpec(request, ctx) {
      const view = await viewFor(request.projectId, requireProject(ctx));
      const response = view.messages.specs.get(request.slug);
      if (response === undefined || !isToolkitGranted(requireProject(ctx).binding, request.slug))
        throw catalogFaults.TOOLKIT_NOT_FOUND("slug", request.slug, view);
      return response;
    },
    async publishToolkit({ definitionJson, dryRun }, ctx) {
      const { projectId } = requireProject(ctx);
      const toolkit = await inTurn(projectId, () => parseDefinition(definitionJson, projectId, importer));
      await publish(projectId, { toolkit, definitionJson }, { dryRun, mustBeNew: false, source: undefined });
      const toolSlugs = [...toolkit.actions, ...toolkit.triggers].map(({ slug }) => slug);
      return { toolkit: await toolkitMessage(toolkit, { kind: "file", changesWaiting: 0 }), toolSlugs };
    },
    async importToolkit(request, ctx) {
      const { projectId } = requireProject(ctx);
      const { dryRun, replace, shared } = request;
      if (shared !== undefined) {
        const at = { projectId, shared: views.shared, nowMs: clock.now() };
        const bound = await inTurn(projectId, () => importShared({ ...request, shared }, at));
        const source = { kind: "put", source: bound.source } as const;
        await publish(projectId, bound, { dryRun, mustBeNew: !replace, source });
        const toolkit = await toolkitMessage(bound.toolkit, { kind: "shared", changesWaiting: 0 });
        return { toolkit, report: bound.report };
      }
      const asked = importSource(request);
      const made = await importer.convert(asked, projectId);
      if (request.digest !== "" && request.digest !== made.digest) throw catalogFaults.SOURCE_CHANGED();
      const source = newSource(asked, made, { nowMs: clock.now(), mcpEveryMs });
      const { toolkit, report, client } = made;
      await publish(projectId, made, { dryRun, mustBeNew: !replace, source: { kind: "put", source }, client });
      const isRegistered = client !== undefined || (await isOauthRegistered(toolkit));
      return {
        toolkit: toMessage(toolkit, isRegistered, { kind: source.kind, changesWaiting: 0 }),
        report: reportMessage(report, await countOpenKeys(db, projectId, clock.now())),
        ...(dryRun && { tools: importedTools(toolkit) }),
        digest: made.digest,
      };
    },
    async putToolkitPhrases({ slug, tools, dryRun }, ctx) {
      const { projectId } = requireProject(ctx);
      const { toolkits, sources } = await views.forProject(projectId);
      // Shared toolkits and those that svc makes, such as `skills`, have no source.
      const toolkit = sources.has(slug) ? toolkits.get(slug) : undefined;
      if (toolkit === undefined) throw catalogFaults.PRIVATE_TOOLKIT_NOT_FOUND(slug);
      const phrases = await checkPhrases(toolkit, tools);
      if (!dryRun) {
        const refusal = await privateToolkitsForProject(db, projectId).putPhrases(slug, phrasesText(phrases));
        views.forget(projectId);
        if (refusal === "missing") throw catalogFaults.PRIVATE_TOOLKIT_NOT_FOUND(slug);
        if (refusal !== undefined) throw quotaFaults[refusal.quota](refusal.quotaReached);
      }
      return { tools: [...phrases].map(([tool, texts]) => ({ tool, phrases: [...texts] })) };
    },
    ...createSourceCalls({ db, clock, views, importer, toolkitMessage }),
    async deleteToolkit({ slug }, ctx) {
      const { projectId } = requireProject(ctx);
      if (!(await views.remove(projectId, slug))) throw catalogFaults.PRIVATE_TOOLKIT_NOT_FOUND(slug);
      return {};
    },
  };
}

/** Maximum characters of a definition that is checked on the event loop. The checks of a longer one can hold it for a tenth of a second. */
const smallMax = 4_096;

async function parseDefinition(
  definitionJson: string,
  projectId: ProjectId,
  importer: Pick<ToolkitImporter, "check">,
): Promise<Toolkit> {
  try {
    if (definitionJson.length <= smallMax) return await parsePrivateToolkit(definitionJson, projectId);
    await checkDefinitionSize(definitionJson);
    const faults = await importer.check(definitionJson, projectId);
    if (faults.length > 0) throw new DefinitionError(faults);
    return await buildCheckedToolkit(definitionJson, { ownerProjectId: projectId, isImported: false });
  } catch (error) {
    if (error instanceof DefinitionError) throw catalogFaults.DEFINITION_INVALID(error);
    throw error;
  }
}

/**
 * Returns a function that runs the tasks of a project one after another, so that one project does not occupy all CPU cores. Each task
 * checks a toolkit definition, which keeps one core busy.
 */
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

const bySlug = byText(({ slug }: { readonly slug: string }) => slug);
/** Default and maximum number of rows per page of the catalog's lists. The lists are short, so that one page usually holds all rows. */
const wholeLists = { fallback: catalogPageMax, max: catalogPageMax };

/**
 * Returns the items whose slugs follow `after`, ordered by slug. If the catalog changes between two pages, no unchanged item is skipped or
 * repeated.
 */
function itemsAfter<Item extends { readonly slug: string }>(items: readonly Item[], after = ""): readonly Item[] {
  return items.filter(({ slug }) => slug > after);
}

function isMessageGranted(
  { toolkitSlug, accessClass }: Pick<ToolMessage, "toolkitSlug" | "accessClass">,
  binding: Binding | undefined,
): boolean {
  return isToolGranted(binding, { toolkitSlug, class: accessClass as Tool["class"] });
}

/** Returns the tools of an imported toolkit, ordered by name. A tool with a suspicious description is not among them. */
function importedTools({ actions }: Toolkit) {
  return actions
    .map(({ name, class: access, description }) => {
      return { name, class: access, description: description.slice(0, 200).toWellFormed() };
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * Converts a toolkit to its API message. `isOauthRegistered`: true if there is an OAuth client for the toolkit. `source`: how a private
 * toolkit was published; undefined for other toolkits. `isLive`: true if calls reach the real app.
 */
function toToolkitMessage(
  toolkit: Toolkit,
  isOauthRegistered: boolean,
  { source, isLive }: { readonly source: ToolkitSourceState | undefined; readonly isLive: boolean },
): ToolkitMessage {
  const connectability = connectabilityOf(toolkit.auth, isOauthRegistered);
  return create(ToolkitSchema, {
    slug: toolkit.slug,
    name: toolkit.name,
    description: toolkit.description,
    version: toolkit.version,
    authSchemes: toolkit.auth.map(({ type }) => type),
    category: toolkit.category,
    ownerProjectId: toolkit.ownerProjectId,
    connectable:
      connectability === ToolkitConnectability.READY || connectability === ToolkitConnectability.OAUTH_PENDING,
    connectability,
    sourceKind: source?.kind ?? "",
    changesWaiting: source?.changesWaiting ?? 0,
    live: isLive,
  });
}

/**
 * Returns if and how accounts of a toolkit's app can be connected. `client_credentials` does not count, because it creates no connected
 * account. If it is the only scheme, there is nothing to connect.
 */
function connectabilityOf(auth: readonly AuthScheme[], isOauthRegistered: boolean): ToolkitConnectability {
  // A toolkit without authentication schemes, such as skills, is called without an account.
  if (auth.length === 0) return ToolkitConnectability.UNSPECIFIED;
  const needsRegistration = auth.some(({ type }) => type === "oauth2") && !isOauthRegistered;
  const connectsNow = auth.some(({ type }) => {
    return type === "oauth2" ? isOauthRegistered : type !== "client_credentials";
  });
  if (!connectsNow) return ToolkitConnectability.NEEDS_OAUTH_REGISTRATION;
  return needsRegistration ? ToolkitConnectability.OAUTH_PENDING : ToolkitConnectability.READY;
}
