import { type Id, optionalId, type ProjectId, pageOf, type Sealer, timeRange, walkedRows } from "@svc/core";
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
import { outcomeInvalid } from "../errors.ts";
import { callOutcomes } from "../outcome.ts";

/** What lists of the ledger are read with. */
export type LedgerListContext = { readonly db: Executor; readonly sealer: Sealer };

type Filter = ToolCallFilter & WalkedCallFilter;

/** A page of the ledger, newest first, and the token of the next. Throws what ListToolCalls refuses. */
export async function listCalls(
  { db, sealer }: LedgerListContext,
  projectId: ProjectId,
  request: ListToolCallsRequest,
): Promise<{ readonly rows: readonly ToolCallSummary[]; readonly nextPageToken: string }> {
  const filter = readFilter(request);
  const page = pageOf(sealer, { call, projectId, filters: filter }, request, "call");
  const calls = toolCallsForProject(db, projectId);
  const isWalk = (filter.jobId ?? filter.accountId ?? filter.keyId) !== undefined;
  const bounded = isWalk ? await boundedBy(db, projectId, filter) : filter;
  if (bounded === undefined) return { rows: [], nextPageToken: "" };
  const found = isWalk
    ? await calls.walk(bounded, page)
    : { rows: await calls.list(bounded, page), walkedTo: undefined };
  return walkedRows(sealer, { call, projectId, filters: filter }, found, page.size);
}

const call = "ListToolCalls";

function readFilter(request: ListToolCallsRequest): Filter {
  const { toolSlug, entityId, outcome } = request;
  const state = callStates.find((known) => known === outcome);
  if (outcome !== "" && state === undefined) throw outcomeInvalid(outcome, [...callOutcomes, "running"]);
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
