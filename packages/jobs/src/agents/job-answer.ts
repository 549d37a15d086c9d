import { parseExactJson } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import type { JobStepRecord } from "@svc/db/jobs/record";
import { jobsForProject } from "@svc/db/jobs/repo";
import { spoken, type ToolAnswer } from "@svc/tools";
import type { AgentJobsContext } from "./parts.ts";

/** What a job that has ended came to, as the tool that ran it answers: its declared result, what it counted, and what failed. */
export async function endedAnswer({ db }: Pick<AgentJobsContext, "db">, job: ListedJob): Promise<ToolAnswer> {
  const steps = (await jobsForProject(db, job.projectId).listSteps([job.id])).get(job.id) ?? [];
  const { id, status, receipt, lastError, mode } = job;
  const errors = steps.flatMap(errorsOf);
  const outcome = receipt?.outcome ?? "none";
  const resultJson = receipt?.resultJson ?? "";
  const structured = {
    ...{ jobId: id, status, mode, outcome },
    ...(resultJson !== "" && { result: parseExactJson(resultJson) }),
    ...(receipt && { calls: receipt.calls, rows: receipt.rows }),
    ...(lastError !== "" && { error: spoken(lastError) }),
    ...(errors.length > 0 && { errors }),
  };
  const lines = [
    `${mode === "simulate" ? "Simulated, and no write was sent: " : ""}${status} (${outcome})${lastError === "" ? "" : `: ${spoken(lastError)}`}`,
    resultJson === "" ? noResult(job) : `Result: ${resultJson}`,
    ...(receipt ? [countsText(job)] : []),
    ...errors.map(({ stepId, code, count, sample }) => `${stepId}: ${code}, ${count} times: ${spoken(sample)}`),
  ];
  return { texts: [lines.filter(Boolean).join("\n")], structured, isError: status !== "succeeded" };
}

function noResult({ status }: ListedJob): string {
  return status === "succeeded" ? "The program declares no result: what it read stays inside." : "";
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
