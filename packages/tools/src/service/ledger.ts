import type { ServiceImpl } from "@connectrpc/connect";
import type { CatalogViews } from "@svc/catalog";
import {
  byId,
  type Id,
  isRowInScope,
  optionalId,
  type ProjectId,
  projectList,
  requireId,
  requireProject,
  type Sealer,
  timeRange,
} from "@svc/core";
import type { ToolCallFilter } from "@svc/db/calls/list-page";
import type { WalkedCallFilter } from "@svc/db/calls/list-walked";
import { readCallArguments, toolCallsForProject } from "@svc/db/calls/repo";
import type { Executor } from "@svc/db/connect";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { listHookAnswers } from "@svc/db/hooks/answers";
import { loadJob } from "@svc/db/jobs/load";
import { callStates } from "@svc/db/schema/words";
import type { ListToolCallsRequest, ToolsService } from "@svc/gen/tools";
import type { Ledger } from "../call/record/ledger.ts";
import { glanceOf, toHookAnswers, toToolCall } from "../convert.ts";
import { toolFaults } from "../errors.ts";
import { callOutcomes } from "../outcome.ts";

type LedgerContext = {
  readonly db: Executor;
  readonly sealer: Sealer;
  readonly ledger: Ledger;
  readonly views: CatalogViews;
};
type Methods = Pick<ServiceImpl<typeof ToolsService>, "listToolCalls" | "getToolCall">;

/** Returns the methods ListToolCalls and GetToolCall. */
export function ledgerMethods({ db, sealer, ledger, views }: LedgerContext): Methods {
  return {
    listToolCalls: projectList(sealer, {
      call: "ListToolCalls",
      order: byId("call"),
      filter: readFilter,
      async rows({ filter, page, caller: { projectId } }) {
        const calls = toolCallsForProject(db, projectId);
        if ((filter.jobId ?? filter.accountId ?? filter.keyId ?? filter.stepId) === undefined)
          return calls.list(filter, page);
        const bounded = await boundedBy(db, projectId, filter);
        return bounded === undefined ? [] : calls.walk(bounded, page);
      },
      isInScope: (row, binding) => isRowInScope(row, binding),
      async answer(rows, { caller: { projectId } }) {
        const [view, found] = await Promise.all([
          views.forProject(projectId),
          readCallArguments(
            db,
            projectId,
            rows.filter(({ jobId }) => jobId === null).map(({ id }) => id),
          ),
        ]);
        return {
          calls: rows.map((row) => {
            const sealed = found.get(row.id);
            const text = sealed === undefined ? "" : ledger.openText(row.id, projectId, "arguments", sealed);
            const opened = { message: ledger.openMessage(row), argumentsJson: "", resultJson: "" };
            return toToolCall(row, opened, { view, glance: glanceOf(text) });
          }),
        };
      },
    }),
    async getToolCall(request, ctx) {
      const { projectId, binding } = requireProject(ctx);
      const id = requireId("call", "id", request.id);
      const row = await toolCallsForProject(db, projectId).find(id);
      if (row === undefined || !isRowInScope(row, binding)) throw toolFaults.TOOL_CALL_NOT_FOUND(request.id);
      const argumentsJson = ledger.openText(id, projectId, "arguments", row.arguments);
      const resultJson = row.result === null ? "" : ledger.openText(id, projectId, "result", row.result);
      const call = toToolCall(
        row,
        { message: ledger.openMessage(row), argumentsJson, resultJson },
        { view: await views.forProject(projectId), glance: glanceOf(argumentsJson) },
      );
      call.hooks = toHookAnswers(await listHookAnswers(db, projectId, id));
      return { call };
    },
  };
}

type Filter = ToolCallFilter & WalkedCallFilter;

function readFilter(request: ListToolCallsRequest): Filter {
  const { toolSlug, entityId, outcome, stepId } = request;
  const state = callStates.find((known) => known === outcome);
  if (outcome !== "" && state === undefined) throw toolFaults.OUTCOME_INVALID(outcome, [...callOutcomes, "running"]);
  return {
    ...timeRange(request.since, request.until),
    toolSlug: toolSlug === "" ? undefined : toolSlug,
    entityId: entityId === "" ? undefined : entityId,
    outcome: state,
    // Absent and not false, so that page tokens of versions without this filter stay valid.
    ...(request.failed && { failed: true }),
    jobId: optionalId("job", "jobId", request.jobId),
    accountId: optionalId("acc", "connectedAccountId", request.connectedAccountId),
    keyId: optionalId("key", "keyId", request.keyId),
    stepId: stepId === "" ? undefined : stepId,
  };
}

/** Maximum difference between the clocks of two nodes, milliseconds. */
const skewMs = 5_000;

/**
 * Returns the filter of a list of calls, limited in time. If the filter names a job, the list covers only the time in which this job ran.
 * If it names an account, calls from before the account's creation are left out. svc then does not read calls outside that time. Undefined
 * if the job does not exist.
 */
async function boundedBy(db: Executor, projectId: ProjectId, filter: Filter): Promise<Filter | undefined> {
  const [job, account] = await Promise.all([
    filter.jobId === undefined ? undefined : findJob(db, projectId, filter.jobId),
    filter.accountId === undefined ? undefined : connectedAccountsForProject(db, projectId).find(filter.accountId),
  ]);
  if (filter.jobId !== undefined && job === undefined) return undefined;
  const sinceMs = Math.max(filter.sinceMs ?? 0, (job?.createdAt ?? 0) - skewMs, (account?.createdAt ?? 0) - skewMs);
  const endMs = (job?.finishedAt ?? Number.POSITIVE_INFINITY) + skewMs;
  const untilMs = Math.min(filter.untilMs ?? Number.POSITIVE_INFINITY, endMs);
  return { ...filter, sinceMs: Math.max(0, sinceMs), untilMs: Number.isFinite(untilMs) ? untilMs : undefined };
}

async function findJob(db: Executor, projectId: ProjectId, id: Id<"job">) {
  const job = await loadJob(db, id);
  return job?.projectId === projectId ? job : undefined;
}
