import { createHash } from "node:crypto";
import { type StandingProgramId, uuidOfId, type Work } from "@svc/core";
import type { ProgramSource } from "../definition/definition.ts";
import { type NextOccurrence, occurrencesOf } from "./schedule.ts";

/**
 * Returns the delay (jitter) of an occurrence in milliseconds: a number from 0 up to, but not including, `jitterMs`. It is computed from
 * the program and the time, so every node and every preview gets the same delay. Programs that are due at the same time get different
 * delays.
 */
export function jitterOf(programId: StandingProgramId, occurrenceMs: number, jitterMs: number): number {
  if (jitterMs === 0) return 0;
  const digest = createHash("sha256")
    .update(`${uuidOfId(programId)}/${occurrenceMs}`)
    .digest();
  return Math.floor((digest.readUInt32BE(0) / 0x1_0000_0000) * jitterMs);
}

/**
 * Returns a function that finds the next time at which a program is due. For a program that events or a poll start, that function resolves
 * to undefined.
 */
export function nextOfSource(source: ProgramSource): NextOccurrence {
  return source.kind === "schedule" ? occurrencesOf(source.schedule) : async () => undefined;
}

/**
 * True if the source has no further occurrence. False for triggers and polls, and for a schedule with a next occurrence. `nextAt`: time of
 * that occurrence.
 */
export function isOver(source: ProgramSource, nextAt: number | null): boolean {
  return source.kind === "schedule" && nextAt === null;
}

/** Returns the time at which a schedule's due time is processed: the due time plus its jitter (a small delay). */
export function fireTimeOf(id: StandingProgramId, atMs: number | null, source: ProgramSource): number | null {
  if (atMs === null || source.kind !== "schedule") return atMs;
  return atMs + jitterOf(id, atMs, source.schedule.jitterMs);
}

/**
 * Returns the first time after `nowMs` at which a schedule is due according to its source (times, events or a poll). A poll is due at once.
 * Returns null if the source has no such time.
 */
export async function firstOfSource(source: ProgramSource, nowMs: number, work: Work): Promise<number | null> {
  return source.kind === "poll" ? nowMs : ((await nextOfSource(source)(nowMs, work)) ?? null);
}
