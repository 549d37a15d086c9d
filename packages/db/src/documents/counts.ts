import type { PackedFields } from "./packed.ts";

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

/** The fields of counts as they are packed. */
export const rowCountFields: PackedFields<RowCounts> = {
  in: true,
  ok: true,
  failed: true,
  skipped: true,
  unknown: true,
};

/** The fields of counts as they are packed. */
export const callCountFields: PackedFields<CallCounts> = {
  read: true,
  write: true,
  destructive: true,
  retried: true,
  unknown: true,
};
