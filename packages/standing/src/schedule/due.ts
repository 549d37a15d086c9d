import { createHash } from "node:crypto";
import { type StandingProgramId, uuidOfId, type Work } from "@svc/core";
import type { ProgramSource } from "../definition/definition.ts";
import { type NextOccurrence, occurrencesOf } from "./schedule.ts";

/** How long an occurrence waits before it fires: the same on every node and in every preview, and evenly spread over programs. */
export function jitterOf(programId: StandingProgramId, occurrenceMs: number, jitterMs: number): number {
  if (jitterMs === 0) return 0;
  const digest = createHash("sha256")
    .update(`${uuidOfId(programId)}/${occurrenceMs}`)
    .digest();
  return Math.floor((digest.readUInt32BE(0) / 0x1_0000_0000) * jitterMs);
}

/** What finds the occurrences of a source; what happens elsewhere has none that are known before. */
export function nextOfSource(source: ProgramSource): NextOccurrence {
  return source.kind === "schedule" ? occurrencesOf(source.schedule) : async () => undefined;
}

/** Whether nothing of a source is due any more. `nextAt`: its next occurrence. */
export function isOver(source: ProgramSource, nextAt: number | null): boolean {
  return source.kind === "schedule" && nextAt === null;
}

/** When an occurrence is decided about: its time and its part of the jitter. */
export function fireTimeOf(id: StandingProgramId, atMs: number | null, source: ProgramSource): number | null {
  if (atMs === null || source.kind !== "schedule") return atMs;
  return atMs + jitterOf(id, atMs, source.schedule.jitterMs);
}

/** When something of a source is due first, from a time on: a poll at once. */
export async function firstOfSource(source: ProgramSource, nowMs: number, work: Work): Promise<number | null> {
  return source.kind === "poll" ? nowMs : ((await nextOfSource(source)(nowMs, work)) ?? null);
}
