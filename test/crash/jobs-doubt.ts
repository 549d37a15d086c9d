import { expect } from "vitest";
import type { JobAnswer } from "./jobs-bench.ts";
import type { Doom } from "./jobs-relay.ts";

// What a job must say is in doubt when its worker was killed.

/** Writes of the kinds that make them one after the other: each begins with a commit, and ends with the next one. */
const writesOf: Readonly<Record<string, number>> = {
  write: 1,
  "keyed write": 1,
  "http write": 1,
  "keyed http write": 1,
  when: 1,
  undo: 2,
};

/** Kinds that write nothing. */
const reads = [
  "read",
  "pages",
  "pages by number",
  "pages over http",
  "filter",
  "sets",
  "map of reads",
  "http read",
  "judge",
  "wait",
];

/** Whether a write was under way where a worker died. */
function isUnderWay({ kind, point, nth }: Doom): boolean {
  const writes = writesOf[kind] ?? 0;
  if (point === "before-commit") return nth >= 2 && nth <= writes + 1;
  if (point === "after-commit") return nth <= writes;
  // The end of the write before is kept by the commit that begins this one.
  if (point === "before-call" || point === "before-insert") return nth >= 2 && nth <= writes;
  return ["after-insert", "in-send", "after-send", "after-call"].includes(point);
}

/**
 * A write that was begun and whose end is not in the ledger is in doubt; what was not begun, or has its end there, is not. Of other kinds
 * the number of a commit does not tell whether a write is under way.
 */
export function expectUnknown(job: JobAnswer, { isMet, ...doom }: Doom & { readonly isMet: boolean }): void {
  const { kind, point } = doom;
  const { unknown = 0, retried = 0 } = job.receipt?.calls ?? {};
  const what = `${kind} at ${point}`;
  if (reads.includes(kind)) expect(unknown, what).toBe(0);
  if (writesOf[kind] === undefined) return;
  const isExposed = isMet && isUnderWay(doom);
  if (!isExposed) expect(unknown, what).toBe(0);
  else if (writesOf[kind] === 1 && kind !== "when") expect(unknown, what).toBe(1);
  if (isExposed && kind.startsWith("keyed")) expect(retried, what).toBe(1);
}
