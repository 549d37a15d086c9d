import type { JobEvent } from "@svc/gen/jobs";

/** Of these particulars an entry's line tells, in this order; the rest is behind it. */
const told = [
  "status",
  "reason",
  "state",
  "outcome",
  "continuation",
  "principalId",
  "toolSlug",
  "code",
  "count",
  "rows",
  "ok",
  "failed",
  "message",
  "error",
];

/** An entry of a log in one line: its step, and what its particulars say. */
export function entryWords({ stepId, payloadJson }: Pick<JobEvent, "stepId" | "payloadJson">): string {
  return [stepId, ...particulars(payloadJson)].filter((part) => part !== "").join(" · ");
}

function particulars(text: string): string[] {
  try {
    const payload: unknown = JSON.parse(text || "{}");
    if (typeof payload !== "object" || payload === null) return [];
    return told.flatMap((name) => {
      const value = (payload as Record<string, unknown>)[name];
      if (typeof value === "string" && value !== "") return [value.replace(/^JOB_STATUS_[A-Z_]+$/, statusWord)];
      return typeof value === "number" ? [`${name} ${value}`] : [];
    });
  } catch {
    // Cut by the service: the whole text is behind the line.
    return [];
  }
}

function statusWord(status: string): string {
  return status.slice("JOB_STATUS_".length).toLowerCase();
}
