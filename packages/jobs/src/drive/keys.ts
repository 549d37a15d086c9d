import { createHash } from "node:crypto";
import type { CallPlace } from "../steps/effects.ts";

/** Which of its calls at one place is meant: of a generation of its job, and of an attempt in it. */
export type CallTurn = { readonly generation: number; readonly attempt: number };

/** The ledger's key of one attempt: what it was answered is answered again after a crash. 128 bits: each is a part of an index. */
export function ledgerKey(jobId: string, place: CallPlace, turn: CallTurn): string {
  return Buffer.from(formerLedgerKey(jobId, place, turn), "hex")
    .subarray(0, 16)
    .toString("base64url");
}

/** What the ledger's key of an attempt was before it was shortened: a call that was begun under that is found by it. */
export function formerLedgerKey(jobId: string, place: CallPlace, { generation, attempt }: CallTurn): string {
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
