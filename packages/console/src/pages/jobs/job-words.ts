import type { Job, JobStep, RowCounts, StepReceipt } from "@svc/gen/jobs";

/** Returns the title of a job. If the job has none, returns the slug of the skill that it runs, or else the text `Job without a title`. */
export function jobTitle({ title, skillSlug }: Pick<Job, "title" | "skillSlug">): string {
  return title || skillSlug || "Job without a title";
}

type Step = Pick<JobStep, "rowsDone" | "rowsRemaining" | "rowsPerSecond" | "state" | "rowsMade" | "simulatedWrites">;

/**
 * Returns the progress of a step's rows in one line, such as `3/3` or `12/40, 1 failed, 3/s`. A step that makes rows and takes none gets
 * the number of rows that it has made, such as `80 made`. Returns an empty text for a step without rows.
 */
export function rowWords(step: Step, receipt: Pick<StepReceipt, "rows"> | undefined): string {
  const parts: string[] = [];
  const taken = receipt?.rows?.in ?? step.rowsDone;
  if (taken > 0 || (step.rowsRemaining ?? 0) > 0) {
    const remaining = step.rowsRemaining ?? 0;
    parts.push(
      step.state === "running" && step.rowsRemaining !== undefined
        ? `${countWord(step.rowsDone)}/${countWord(step.rowsDone + remaining)}`
        : `${countWord(receipt?.rows?.ok ?? taken)}/${countWord(taken)}`,
    );
  }
  if (receipt?.rows !== undefined) parts.push(...leftWords(receipt.rows));
  if (step.rowsMade !== undefined && parts.length === 0) parts.push(`${countWord(step.rowsMade)} made`);
  if (step.simulatedWrites > 0) parts.push(`${step.simulatedWrites} not sent`);
  if (step.state === "running" && step.rowsPerSecond > 0) parts.push(`${step.rowsPerSecond.toFixed(1)}/s`);
  return parts.join(", ");
}

/** Returns the numbers of rows that failed, were skipped or have an unknown result, such as `2 failed` or `1 unknown`. */
export function leftWords({ failed, skipped, unknown }: Pick<RowCounts, "failed" | "skipped" | "unknown">): string[] {
  const kinds = [
    [failed, "failed"],
    [skipped, "skipped"],
    [unknown, "unknown"],
  ] as const;
  return kinds.filter(([count]) => count > 0).map(([count, word]) => `${countWord(count)} ${word}`);
}

function countWord(count: number): string {
  return count.toLocaleString("en");
}
