import { createHash } from "node:crypto";
import { type StandingProgramId, uuidOfId } from "@svc/core";

/** How long an occurrence waits before it fires: the same on every node and in every preview, and evenly spread over programs. */
export function jitterOf(programId: StandingProgramId, occurrenceMs: number, jitterMs: number): number {
  if (jitterMs === 0) return 0;
  const digest = createHash("sha256")
    .update(`${uuidOfId(programId)}/${occurrenceMs}`)
    .digest();
  return Math.floor((digest.readUInt32BE(0) / 0x1_0000_0000) * jitterMs);
}
