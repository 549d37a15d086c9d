import {
  type Binding,
  type Id,
  isEntityGranted,
  isToolGranted,
  optionalId,
  type ProjectId,
  type ProjectPrincipal,
  pageOf,
  type Sealer,
  timeRange,
  walkedRows,
} from "@svc/core";
import {
  callStates,
  connectedAccountsForProject,
  type Executor,
  loadJob,
  type ToolCallFilter,
  type ToolCallSummary,
  toolCallsForProject,
  type WalkedCallFilter,
} from "@svc/db";
import type { ListToolCallsRequest } from "@svc/gen/tools";
import { toolFaults } from "../errors.ts";
import { callOutcomes } from "../outcome.ts";

/** What lists of the ledger are read with. */
export type LedgerListContext = { readonly db: Executor; readonly sealer: Sealer };

type Filter = ToolCallFilter & WalkedCallFilter;

/** A page of the ledger, newest first, and the token of the next. Throws what ListToolCalls refuses. */
export async function listCalls(
  { db, sealer }: LedgerListContext,
  { projectId, binding }: Pick<ProjectPrincipal, "projectId" | "binding">,
  request: ListToolCallsRequest,
): Promise<{ readonly rows: readonly ToolCallSummary[]; readonly nextPageToken: string }> {
  const asked = readFilter(request);
  const own = binding?.entityId || undefined;
  if (own !== undefined && asked.entityId !== undefined && asked.entityId !== own) return none;
  const filter = { ...asked, entityId: own ?? asked.entityId };
  const page = pageOf(sealer, { call, projectId, filters: filter }, request, "call");
  const calls = toolCallsForProject(db, projectId);
  const isWalk = (filter.jobId ?? filter.accountId ?? filter.keyId) !== undefined;
  const bounded = isWalk ? await boundedBy(db, projectId, filter) : filter;
  if (bounded === undefined) return none;
  const found = isWalk
    ? await calls.walk(bounded, page)
    : { rows: await calls.list(bounded, page), walkedTo: undefined };
  const { rows, nextPageToken } = walkedRows(sealer, { call, projectId, filters: filter }, found, page.size);
  return { rows: rows.filter((row) => isCallReached(binding, row)), nextPageToken };
}

const call = "ListToolCalls";
const none = { rows: [], nextPageToken: "" };

/** Whether a call of the ledger is one that whoever is bound so could have made. */
export function isCallReached(
  binding: Binding | undefined,
  { entityId, toolSlug, accessClass }: Pick<ToolCallSummary, "entityId" | "toolSlug" | "accessClass">,
): boolean {
  const [toolkitSlug = ""] = toolSlug.split(".");
  return isEntityGranted(binding, entityId) && isToolGranted(binding, { toolkitSlug, class: accessClass });
}

function readFilter(request: ListToolCallsRequest): Filter {
  const { toolSlug, entityId, outcome } = request;
  const state = callStates.find((known) => known === outcome);
  if (outcome !== "" && state === undefined) throw toolFaults.OUTCOME_INVALID(outcome, [...callOutcomes, "running"]);
  return {
    ...timeRange(request.since, request.until),
    toolSlug: toolSlug === "" ? undefined : toolSlug,
    entityId: entityId === "" ? undefined : entityId,
    outcome: state,
    jobId: optionalId("job", "jobId", request.jobId),
    accountId: optionalId("acc", "connectedAccountId", request.connectedAccountId),
    keyId: optionalId("key", "keyId", request.keyId),
  };
}

/** Clocks of nodes differ by less. */
const skewMs = 5_000;

/** The filter within the time in which the job ran and the account was there: calls of before or after are not looked at. Undefined: there is no such job. */
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
