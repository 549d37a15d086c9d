import { appNamesOf } from "@svc/catalog";
import { type Id, isWithin, jobFailure, type ProjectPrincipal, parseExactJson } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import { requestJobCancel } from "@svc/db/jobs/hold";
import type { JobEventRecord, JobStepRecord } from "@svc/db/jobs/record";
import { jobsForProject } from "@svc/db/jobs/repo";
import { spoken, type ToolAnswer } from "@svc/tools";
import type { AgentJobsContext } from "./task-ask.ts";

/**
 * Returns a job of the caller's project that is in the caller's access scope. If the caller has a grant (a person's permission for an
 * agent) instead of a key, only jobs that were submitted under this grant are returned. Returns undefined for any other job.
 */
export async function findFollowed(
  { db }: Pick<AgentJobsContext, "db">,
  { projectId, keyId, binding, isGrant = false }: ProjectPrincipal,
  id: Id<"job">,
): Promise<ListedJob | undefined> {
  const job = await jobsForProject(db, projectId).find(id);
  if (job === undefined || !isWithin(job, binding)) return undefined;
  return isGrant && job.keyId !== keyId ? undefined : job;
}

/** Requests the cancellation of a job for an agent. A job that has ended does not change. */
export async function cancelJob(
  { db, clock, engine }: Pick<AgentJobsContext, "db" | "clock" | "engine">,
  { id }: ListedJob,
  { projectId, keyId }: ProjectPrincipal,
): Promise<void> {
  await requestJobCancel(db, { jobId: id, projectId, chain: [`key:${keyId}`], nowMs: clock.now() });
  engine.cancel(id);
  engine.wake();
}

/** Returns the result of an ended job in the form in which an agent's tool call receives it: the program's result, counts and errors. */
export async function endedAnswer(
  { db, views }: Pick<AgentJobsContext, "db" | "views">,
  job: ListedJob,
): Promise<ToolAnswer> {
  const steps = (await jobsForProject(db, job.projectId).listSteps([job.id])).get(job.id) ?? [];
  const { id, status, receipt, lastError, mode } = job;
  const errors = steps.flatMap(errorsOf);
  const receipts = steps.map((step: Pick<JobStepRecord, "receipt">) => step.receipt);
  const { entities } = job.estimate;
  const appNames = appNamesOf(await views.forProject(job.projectId));
  const failure = jobFailure({ ...job, atMs: job.updatedAt, steps: receipts, entities, appNames });
  const why = spoken(failure?.title ?? lastError);
  const outcome = receipt?.outcome ?? "none";
  const resultJson = receipt?.resultJson ?? "";
  const structured = {
    ...{ jobId: id, status, mode, outcome },
    ...(resultJson !== "" && { result: parseExactJson(resultJson) }),
    ...(receipt && { calls: receipt.calls, rows: receipt.rows }),
    ...(lastError !== "" && { error: spoken(lastError) }),
    ...(failure && { why }),
    ...(errors.length > 0 && { errors }),
  };
  const lines = [
    `${mode === "simulate" ? "Simulated; no write was sent: " : ""}${status} (${outcome})${why === "" ? "" : `: ${why}`}`,
    resultJson === "" ? noResult(job) : `Result: ${resultJson}`,
    ...(receipt ? [countsText(job)] : []),
    ...errors.map(({ stepId, code, count, sample }) => `${stepId}: ${code}, ${count} times: ${spoken(sample)}`),
  ];
  return { texts: [lines.filter(Boolean).join("\n")], structured, isError: status !== "succeeded" };
}

function noResult({ status }: ListedJob): string {
  return status === "succeeded" ? "The program declares no result, so it returns no values." : "";
}

function errorsOf({ receipt: { stepId, errors } }: JobStepRecord) {
  return errors.map(({ code, count, sample }) => ({ stepId, code, count, sample }));
}

function countsText({ receipt, id }: ListedJob): string {
  if (receipt === null) return "";
  const { calls, rows } = receipt;
  const made = (["read", "write", "destructive"] as const).flatMap((one) =>
    calls[one] > 0 ? `${calls[one]} ${one}` : [],
  );
  const failed = rows.failed + rows.unknown > 0 ? `, ${rows.failed} failed, ${rows.unknown} unknown` : "";
  return `Calls: ${made.join(", ") || "none"}. Rows: ${rows.in}${failed}. ${id}`;
}

/** Returns the newest entry of a job's log. */
export async function lastLogged(
  { db }: Pick<AgentJobsContext, "db">,
  { id, projectId, lastSeq }: ListedJob,
): Promise<JobEventRecord | undefined> {
  const [event] = await jobsForProject(db, projectId).listEvents(id, { afterSeq: lastSeq - 1, limit: 1 });
  return event;
}

/** Returns a log entry as one line for people: the step, the event, and the number of rows done, if the entry has one. */
export function loggedText({ stepId, type, payload }: Pick<JobEventRecord, "stepId" | "type" | "payload">): string {
  const what = type.replaceAll("-", " ");
  const rows = /"in":(\d+)/.exec(payload)?.[1];
  const counted = rows === undefined ? what : `${what}, ${rows} rows`;
  return stepId === "" ? counted : `${stepId}: ${counted}`;
}
