import { Remedy } from "@svc/gen/failures";

const jobRemedies: Partial<Record<Remedy, string>> = {
  [Remedy.RECONNECT_ACCOUNT]: "Reconnect the account",
  [Remedy.CONNECT_ACCOUNT]: "Connect an account",
  [Remedy.RETRY_JOB]: "Retry",
  [Remedy.ASK_AGAIN]: "Ask again",
  [Remedy.EDIT_PROGRAM]: "Edit and run",
  [Remedy.RAISE_LIMIT]: "Raise the limit in the program",
};

/** Returns the text of the button that solves a job's failure. Undefined if the page of the job needs no button for this action. */
export function jobRemedyWords(remedy: Remedy): string | undefined {
  return jobRemedies[remedy];
}
