import { createHash } from "node:crypto";

/** Where a call stands in its job: the same place is never executed twice in silence. */
export type CallPlace = {
  readonly jobId: string;
  readonly stepId: string;
  /** Of the row; 0 for a step without rows. Of an undo, the entry. */
  readonly ordinal: number;
  /** Id of the call; `undo` for an undo. */
  readonly callId: string;
};

/** The ledger's key of one attempt: what it was answered is answered again after a crash. */
export function ledgerKey(place: CallPlace, { generation, attempt }: { generation: number; attempt: number }): string {
  return digest(["call", place.jobId, place.stepId, place.ordinal, place.callId, generation, attempt]);
}

/** The app's key, the same for every attempt of a generation: an app that takes keys does the call once. */
export function appKey(place: CallPlace, generation: number): string {
  return digest(["app", place.jobId, place.stepId, place.ordinal, place.callId, generation]);
}

function digest(parts: readonly (string | number)[]): string {
  return createHash("sha256")
    .update(JSON.stringify(["svc-job", ...parts]))
    .digest("hex");
}
