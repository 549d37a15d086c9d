import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { shareMessage } from "@svc/core";
import {
  type AccountVariableSpecSchema,
  type GetToolkitConnectSpecResponse,
  GetToolkitConnectSpecResponseSchema,
  type GetToolResponse,
  GetToolResponseSchema,
  type ListToolsResponse,
  ListToolsResponseSchema,
  ToolKind,
  type ToolkitAuthSchemeSpecSchema,
  type ToolkitConnectSpec,
  ToolkitConnectSpecSchema,
  type Tool as ToolMessage,
  ToolSchema,
  ToolView,
} from "@svc/gen/catalog";
import type { AccountVariable, AuthScheme, Catalog, Tool, Toolkit } from "./model.ts";

const kinds = { action: ToolKind.ACTION, trigger: ToolKind.TRIGGER, code: ToolKind.CODE } as const;

/**
 * Returns the API message that describes a tool. Creating the message takes tens of microseconds, because it contains the tool's schemas as
 * JSON text. Therefore svc creates the message once for each tool and then reuses it.
 */
export function toToolMessage(tool: Tool): ToolMessage {
  return create(ToolSchema, {
    slug: tool.slug,
    toolkitSlug: tool.toolkitSlug,
    kind: kinds[tool.kind],
    description: tool.description,
    inputSchemaJson: JSON.stringify(tool.inputSchema),
    outputSchemaJson: JSON.stringify(tool.outputSchema),
    requiredScopes: [...tool.scopes],
    accessClass: tool.class,
    callable: tool.callable,
    uncallableReason: tool.uncallableReason,
    ownerProjectId: tool.ownerProjectId,
    pagingJson: tool.kind === "action" && tool.paging !== undefined ? JSON.stringify(tool.paging) : "",
    replacedBy: tool.kind === "action" ? (tool.replacedBy ?? "") : "",
    phrases: tool.kind === "action" ? [...(tool.phrases ?? [])] : [],
    pollJson: tool.kind === "action" && tool.poll !== undefined ? JSON.stringify(tool.poll) : "",
  });
}

/** Prepared answers of CatalogService, created once per catalog. Maps are ordered by slug. The messages are shared and never change. */
export type MessageIndex = {
  readonly specs: ReadonlyMap<string, GetToolkitConnectSpecResponse>;
  readonly tools: ReadonlyMap<string, GetToolResponse>;
  readonly toolList: readonly ToolMessage[];
  readonly toolsOfToolkit: ReadonlyMap<string, readonly ToolMessage[]>;
  /**
   * Returns the answer of ListTools for a request without filters (except the kind); undefined if one page cannot hold all tools. The
   * answer is created at the first call.
   */
  allTools(kind: ToolKind, view: ToolView): ListToolsResponse | undefined;
};

/** Maximum rows per page of the catalog's lists. */
export const catalogPageMax = 1_000;

/** The API message of each tool. All catalogs use the same message, because creating it is expensive. */
const toolMessages = new WeakMap<Tool, ToolMessage>();

/** Returns the API message of a tool, which all catalogs share. Creates it at the first call for the tool. */
export function toolMessage(tool: Tool): ToolMessage {
  const known = toolMessages.get(tool);
  if (known !== undefined) return known;
  const made = shareMessage(toToolMessage(tool));
  toolMessages.set(tool, made);
  return made;
}

/** Creates the prepared answers of CatalogService (API messages of toolkits and tools) for a catalog. */
export function indexMessages(catalog: Catalog): MessageIndex {
  const toolList = [...catalog.tools.values()].map(toolMessage);
  const toolkits = [...catalog.toolkits.values()];
  const whole = new Map<string, ListToolsResponse>();
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
    allTools(kind, view) {
      const key = `${kind} ${view}`;
      let response = whole.get(key);
      if (response === undefined) {
        const tools = toolsOfKind(toolList, kind);
        if (tools.length > catalogPageMax) return undefined;
        response = shareMessage(create(ListToolsResponseSchema, { tools: toolsInView(tools, view) }));
        whole.set(key, response);
      }
      return response;
    },
  };
}

/** Returns the tools with the level of detail that a list request asks for: shortened for `SUMMARY`, otherwise unchanged. */
export function toolsInView(tools: readonly ToolMessage[], view: ToolView): ToolMessage[] {
  return view === ToolView.SUMMARY ? tools.map(summaryOf) : [...tools];
}

/** Returns a tool's message without the schemas, which are 95 % of its bytes. */
function summaryOf(tool: ToolMessage): ToolMessage {
  const known = summaries.get(tool);
  if (known !== undefined) return known;
  const large = { inputSchemaJson: "", outputSchemaJson: "", pagingJson: "", pollJson: "" };
  const made = shareMessage(create(ToolSchema, { ...tool, ...large }));
  summaries.set(tool, made);
  return made;
}

const summaries = new WeakMap<ToolMessage, ToolMessage>();

/** Returns the tools of one kind. Returns all tools if the kind is UNSPECIFIED. */
export function toolsOfKind(tools: readonly ToolMessage[], kind: ToolKind): readonly ToolMessage[] {
  return kind === ToolKind.UNSPECIFIED ? tools : tools.filter((tool) => tool.kind === kind);
}

/** Returns the data for a form that connects an account. It contains no credential, and no address that receives a credential. */
function toConnectSpec(toolkit: Toolkit): ToolkitConnectSpec {
  return create(ToolkitConnectSpecSchema, {
    toolkitSlug: toolkit.slug,
    baseUrlTemplate: toolkit.baseUrl,
    accountVariables: toolkit.account.map(toAccountVariableSpec),
    binding: toolkit.questions === undefined ? [] : [...toolkit.questions],
    authSchemes: toolkit.auth.filter(({ type }) => type !== "client_credentials").map(toAuthSchemeSpec),
  });
}

function toAccountVariableSpec(variable: AccountVariable): MessageInitShape<typeof AccountVariableSpecSchema> {
  const { name, description, example, decidesOrigin } = variable;
  return { name, description, example, decidesOrigin };
}

function toAuthSchemeSpec(scheme: AuthScheme): MessageInitShape<typeof ToolkitAuthSchemeSpecSchema> {
  switch (scheme.type) {
    case "oauth2":
      return { type: scheme.type, defaultScopes: [...scheme.defaultScopes] };
    case "api_key":
      return {
        type: scheme.type,
        keyPlacement: scheme.placement,
        ...(scheme.placement !== "path" && { keyName: scheme.name }),
      };
    default:
      return { type: scheme.type };
  }
}
