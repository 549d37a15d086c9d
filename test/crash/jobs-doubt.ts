import { expect } from "vitest";
import type { JobAnswer } from "./jobs-bench.ts";
import type { Doom } from "./jobs-relay.ts";

// The writes that a job must report as in doubt after its worker was killed.

/**
 * Number of writes of each kind that writes one after the other. Each write begins with a commit, and its end is stored by the next commit.
 */
const writesOf: Readonly<Record<string, number>> = {
  write: 1,
  "keyed write": 1,
  "http write": 1,
  "keyed http write": 1,
  when: 1,
  undo: 2,
};

/** Kinds of work that write nothing. */
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

/** True if a write was under way when the worker died. */
function isUnderWay({ kind, point, nth }: Doom): boolean {
  const writes = writesOf[kind] ?? 0;
  if (point === "before-commit") return nth >= 2 && nth <= writes + 1;
  if (point === "after-commit") return nth <= writes;
  // The commit that begins this write also stores the end of the write before.
  if (point === "before-call" || point === "before-insert") return nth >= 2 && nth <= writes;
  return ["after-insert", "in-send", "after-send", "after-call"].includes(point);
}

/**
 * Checks the writes in doubt. A write is in doubt if it had begun and the ledger has no end of it; otherwise it is not. For other kinds,
 * the number of commits does not show whether a write was under way.
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
