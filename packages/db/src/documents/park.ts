import type { AskContinuation } from "../schema/words.ts";
import type { RowCounts } from "./counts.ts";
import { asWritten, documentType } from "./document.ts";

/** `jobs.park`: what a job waits for. Times are epoch milliseconds. */
export type ParkDocument = {
  readonly reason:
    | "judgment"
    | "approval"
    | "wait"
    | "in_doubt"
    | "undo_stuck"
    | "poisoned"
    | "administrator"
    | "paused"
    | "child";
  readonly stepId: string;
  readonly since: number;
  readonly wakeAt?: number;
  readonly judgment?: {
    readonly pointId: string;
    readonly requestId: string;
    readonly question: string;
    readonly continuations: readonly AskContinuation[];
    readonly answerSchemaJson: string;
    readonly raisedAt: number;
    readonly counts?: RowCounts;
  };
  /** Of `child`: the job that this one runs, which waits for a person. */
  readonly childJobId?: string;
  /** Of `poisoned`, `administrator` and `paused`: what its release, or its resumption, brings back. */
  readonly before?: {
    readonly status: "queued" | "running" | "compensating";
    readonly lastError: string;
  };
};

/** How `jobs.park` is stored. */
export const parkDocument = documentType<ParkDocument>("jobs.park", [asWritten]);
