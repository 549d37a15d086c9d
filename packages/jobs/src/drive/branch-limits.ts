import type { Change, Edit } from "../state/change.ts";
import type { SharedLimits } from "../steps/shared-limits.ts";

/** How many rows the edits fetch. */
export function rowsIn(edits: readonly Edit[]): number {
  return edits.reduce((sum, edit) => sum + (edit.kind === "fetched" ? edit.rows.length : 0), 0);
}

/** Rows that other branches fetched meanwhile count as well, and those that their children may fetch. */
export function withinRows(change: Change, shared: SharedLimits): Change {
  const first = change.edits.find((edit) => edit.kind === "fetched");
  if (first === undefined || rowsIn(change.edits) <= shared.room().rows) return change;
  const edits = change.edits.filter(({ kind }) => ["use", "calls", "note", "recorded", "called"].includes(kind));
  return { edits, next: { kind: "limit", stepId: first.setId, limit: "rows" } };
}

/** At most so many calls at one time. */
export function bounded<Args extends unknown[], T>(max: number, call: (...args: Args) => Promise<T>) {
  let free = max;
  const waiting: (() => void)[] = [];
  return async (...args: Args): Promise<T> => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    try {
      return await call(...args);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
