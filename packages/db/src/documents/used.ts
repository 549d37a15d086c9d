import { asWritten } from "./document.ts";
import { packedDocument } from "./packed.ts";

/** `jobs.used`: what a job used of its limits. */
export type UsedDocument = {
  readonly toolCalls: number;
  readonly writes: number;
  readonly rows: number;
  readonly asks: number;
};

/** How `jobs.used` is stored. */
export const usedDocument = packedDocument<UsedDocument>("jobs.used", [asWritten], {
  toolCalls: true,
  writes: true,
  rows: true,
  asks: true,
});
