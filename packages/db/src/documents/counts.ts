/** How many rows a step took, by how they ended. */
export type RowCounts = {
  readonly in: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
};

/** Tool calls by class; of all of them, repetitions and those whose outcome is unknown. Undo calls are not among them. */
export type CallCounts = {
  readonly read: number;
  readonly write: number;
  readonly destructive: number;
  readonly retried: number;
  readonly unknown: number;
};
