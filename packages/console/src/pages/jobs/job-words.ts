import type { Job } from "@svc/gen/jobs";
import { hasEnded } from "../../words/jobs.ts";
import { parkWords } from "../../words/park.ts";

/** The title of a job; one without is named as what it is. */
export function jobTitle({ title, skillSlug }: Pick<Job, "title" | "skillSlug">): string {
  return title || skillSlug || "Job without a title";
}

/** What a job waits for, or what last went wrong with it. Empty for neither. */
export function jobWhy({
  park,
  lastError,
  pausedAt,
  status,
}: Pick<Job, "park" | "lastError" | "pausedAt" | "status">): string {
  if (park !== undefined) {
    const { title } = parkWords(park.reason);
    return park.judgment?.question ?? title;
  }
  if (pausedAt !== undefined && !hasEnded(status)) return "It is paused as soon as what is under way has ended";
  return lastError;
}
