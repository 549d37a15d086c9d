import { createHash } from "node:crypto";
import type { CallPlace } from "../steps/effects.ts";

/** Which of its calls at one place is meant: of a generation of its job, and of an attempt in it. */
export type CallTurn = { readonly generation: number; readonly attempt: number };

/** The ledger's key of one attempt: what it was answered is answered again after a crash. */
export function ledgerKey(jobId: string, place: CallPlace, { generation, attempt }: CallTurn): string {
  return digest(["call", jobId, place.stepId, place.ordinal, place.callId, generation, attempt]);
}

/**
 * The app's key, the same for every attempt of a generation: an app that takes keys does the call once. `seed`: the job's id or, of a run
 * of a standing program, what stays the same where a restored backup starts it again.
 */
export function appKey(seed: string, place: CallPlace, generation: number): string {
  return digest(["app", seed, place.stepId, place.ordinal, place.callId, generation]);
}

function digest(parts: readonly (string | number)[]): string {
  return createHash("sha256")
    .update(JSON.stringify(["svc-job", ...parts]))
    .digest("hex");
}
