import type { ServiceImpl } from "@connectrpc/connect";
import type { CatalogViews } from "@svc/catalog";
import { requireProject, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { ToolsService } from "@svc/gen/tools";
import type { ToolCaller } from "../call/call-tool.ts";
import type { Ledger } from "../call/record/ledger.ts";
import { toCallToolResponse } from "../convert.ts";
import type { ToolFinder } from "../embeddings/find-tools.ts";
import type { AvailabilityFinder } from "../search/availability.ts";
import { type CallLimitsContext, callLimitMethods } from "./call-limits.ts";
import { answerOf, readCallRequest } from "./call-request.ts";
import { type HooksContext, hookMethods } from "./hooks.ts";
import { ledgerMethods } from "./ledger.ts";
import { describedTool, readSearchRequest } from "./search-request.ts";

/** Dependencies of ToolsService. */
export type ToolsServiceOptions = CallLimitsContext &
  HooksContext & {
    readonly views: CatalogViews;
    readonly caller: ToolCaller;
    readonly ledger: Ledger;
    readonly findAvailability: AvailabilityFinder;
    readonly finder: ToolFinder;
    readonly db: Database;
    /** Encrypts page tokens. */
    readonly sealer: Sealer;
  };

/** Creates ToolsService: finding, describing and calling the tools of a project, and the ledger (record of all tool calls) of its calls. */
export function createToolsService(options: ToolsServiceOptions): ServiceImpl<typeof ToolsService> {
  const { views, caller, findAvailability, finder } = options;
  return {
    async searchTools(request, ctx) {
      const search = readSearchRequest(request);
      const principal = requireProject(ctx);
      const view = await views.forProject(principal.projectId);
      const availabilityOf = await findAvailability(view, principal);
      const { binding, projectId } = principal;
      const found = await finder.find(projectId, view, { ...search, binding, availabilityOf });
      const results = found.results.map(({ tool, matchedTerms, ...fit }) => {
        const message = view.messages.tools.get(tool.slug)?.tool;
        return { ...(message && { tool: message }), ...fit, matchedTerms: [...matchedTerms] };
      });
      return { results, confidence: found.confidence ?? "" };
    },
    async describeTool({ slug }, ctx) {
      const { projectId, binding } = requireProject(ctx);
      const tool = describedTool(await views.forProject(projectId), binding, slug);
      return { tool };
    },
    async callTool(request, ctx) {
      const { shape, ...call } = readCallRequest(request, requireProject(ctx));
      return toCallToolResponse(answerOf(await caller.call(call)), shape);
    },
    ...ledgerMethods(options),
    ...callLimitMethods(options),
    ...hookMethods(options),
  };
}
