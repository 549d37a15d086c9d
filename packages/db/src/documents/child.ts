import { asWritten, documentType } from "./document.ts";

/** `jobs.child`: of a job that another runs as a skill, where it stands in that one, and what it may use of its limits. */
export type ChildDocument = {
  readonly stepId: string;
  /** Of the row in a map; 0 for a step of its own. */
  readonly ordinal: number;
  readonly limits: {
    readonly toolCalls: number;
    readonly writes: number;
    readonly rows: number;
    readonly asks: number;
    readonly concurrency: number;
  };
};

/** How `jobs.child` is stored. */
export const childDocument = documentType<ChildDocument>("jobs.child", [asWritten]);
