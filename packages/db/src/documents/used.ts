import { asWritten, documentType } from "./document.ts";

/** `jobs.used`: what a job used of its limits. */
export type UsedDocument = {
  readonly toolCalls: number;
  readonly writes: number;
  readonly rows: number;
  readonly asks: number;
};

/** How `jobs.used` is stored. */
export const usedDocument = documentType<UsedDocument>("jobs.used", [asWritten]);
