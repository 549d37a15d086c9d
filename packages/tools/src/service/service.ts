import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { CatalogViews } from "@svc/catalog";
import { requireId, requireProject, type Sealer } from "@svc/core";
import { type Database, listHookAnswers, type ToolCallSummary, toolCallsForProject } from "@svc/db";
import {
  DescribeToolResponseSchema,
  GetToolCallResponseSchema,
  ListToolCallsResponseSchema,
  SearchToolsResponseSchema,
  type ToolsService,
} from "@svc/gen/tools";
import type { ToolCaller } from "../call/call-tool.ts";
import type { Ledger } from "../call/ledger.ts";
import { toCallToolResponse, toHookAnswers, toToolCall } from "../convert.ts";
import type { ToolFinder } from "../embeddings/find-tools.ts";
import { toolFaults } from "../errors.ts";
import type { ReachFinder } from "../search/reach.ts";
import { answerOf } from "./call-answer.ts";
import { type CallLimitsContext, callLimitMethods } from "./call-limits.ts";
import { readCallRequest } from "./call-request.ts";
import { describedTool } from "./described-tool.ts";
import { type HooksContext, hookMethods } from "./hooks.ts";
import { isCallReached, listCalls } from "./ledger-list.ts";
import { readSearchRequest } from "./search-request.ts";

/** What ToolsService works with. */
export type ToolsServiceOptions = CallLimitsContext &
  HooksContext & {
    readonly views: CatalogViews;
    readonly caller: ToolCaller;
    readonly ledger: Ledger;
    readonly findReach: ReachFinder;
    readonly finder: ToolFinder;
    readonly db: Database;
    /** Seals page tokens. */
    readonly sealer: Sealer;
  };

/** The tools as a project sees them: found, described, called, and the ledger of its calls. */
export function createToolsService(options: ToolsServiceOptions): ServiceImpl<typeof ToolsService> {
  const { views, caller, ledger, findReach, finder, db } = options;
  return {
    async searchTools(request, ctx) {
      const search = readSearchRequest(request);
      const principal = requireProject(ctx);
      const view = await views.forProject(principal.projectId);
      const reachOf = await findReach(view, principal);
      const { binding, projectId } = principal;
      const found = await finder.find(projectId, view, { ...search, binding, reachOf });
      const results = found.results.map(({ tool, matchedTerms, ...fit }) => {
        const message = view.messages.tools.get(tool.slug)?.tool;
        return { ...(message && { tool: message }), ...fit, matchedTerms: [...matchedTerms] };
      });
      return create(SearchToolsResponseSchema, { results, confidence: found.confidence ?? "" });
    },
    async describeTool({ slug }, ctx) {
      const { projectId, binding } = requireProject(ctx);
      const tool = describedTool(await views.forProject(projectId), binding, slug);
      return create(DescribeToolResponseSchema, { tool });
    },
    async callTool(request, ctx) {
      const { shape, ...call } = readCallRequest(request, requireProject(ctx));
      return toCallToolResponse(answerOf(await caller.call(call)), shape);
    },
    async listToolCalls(request, ctx) {
      const { rows, nextPageToken } = await listCalls(options, requireProject(ctx), request);
      const calls = rows.map((row) => {
        return toToolCall(row, { message: messageOf(ledger, row), argumentsJson: "", resultJson: "" });
      });
      return create(ListToolCallsResponseSchema, { calls, nextPageToken });
    },
    async getToolCall(request, ctx) {
      const { projectId, binding } = requireProject(ctx);
      const id = requireId("call", "id", request.id);
      const row = await toolCallsForProject(db, projectId).find(id);
      if (row === undefined || !isCallReached(binding, row)) throw toolFaults.TOOL_CALL_NOT_FOUND(request.id);
      const call = toToolCall(row, {
        message: messageOf(ledger, row),
        argumentsJson: ledger.openText(id, projectId, "arguments", row.arguments),
        resultJson: row.result === null ? "" : ledger.openText(id, projectId, "result", row.result),
      });
      call.hooks = toHookAnswers(await listHookAnswers(db, projectId, id));
      return create(GetToolCallResponseSchema, { call });
    },
    ...callLimitMethods(options),
    ...hookMethods(options),
  };
}

/** Calls of versions before 0.2 have it unsealed, and so has what holds none of a call's words. */
function messageOf(ledger: Ledger, { id, projectId, message, sealedMessage }: ToolCallSummary): string {
  return sealedMessage === null ? message : ledger.openText(id, projectId, "message", sealedMessage);
}
