import { type CatalogViews, createValidator, type SchemaValidator } from "@svc/catalog";
import type { ProjectPrincipal } from "@svc/core";
import type { ToolCaller } from "../call/call-tool.ts";
import type { MetaToolAnswer } from "./answer.ts";
import { answerCall, type CallArguments } from "./call-tool.ts";
import { answerDescribe } from "./describe-tool.ts";
import { metaArgumentsInvalid } from "./errors.ts";
import { type MetaToolName, metaTools } from "./meta-tools.ts";
import { answerSearch, type SearchArguments } from "./search-tools.ts";

/** What the meta-tools work with. */
export type McpToolsOptions = { readonly views: CatalogViews; readonly caller: ToolCaller };

/** The meta-tools, apart from any protocol. */
export type McpTools = {
  /** Whether there is a meta-tool of that name. */
  has(name: string): name is MetaToolName;
  /** Calls one for a project. Rejects with the refusals of SearchTools, DescribeTool and CallTool, and META_ARGUMENTS_INVALID. */
  call(name: MetaToolName, args: unknown, principal: ProjectPrincipal): Promise<MetaToolAnswer>;
};

/** Makes the meta-tools over the engine that serves ToolsService. */
export function createMcpTools({ views, caller }: McpToolsOptions): McpTools {
  const validators = new Map<string, SchemaValidator>(
    metaTools.map(({ name, inputSchema }) => [name, createValidator(inputSchema)]),
  );
  return {
    has: (name): name is MetaToolName => validators.has(name),
    async call(name, args, principal) {
      const faults = validators.get(name)?.(args) ?? [];
      if (faults.length > 0) throw metaArgumentsInvalid(name, faults);
      if (name === "call_tool") return answerCall(caller, principal, args as CallArguments);
      const view = await views.forProject(principal.projectId);
      if (name === "search_tools") return answerSearch(view, args as SearchArguments, principal.binding);
      return answerDescribe(view, args as { slug: string }, principal.binding);
    },
  };
}
