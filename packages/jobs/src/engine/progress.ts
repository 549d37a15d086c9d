import type { JsonValue } from "../program/program.ts";

/** What the engine keeps of the step under way, sealed in `jobs.progress`. */
export type Progress = {
  readonly stepId: string;
  /** The ask whose decision the step waits for. */
  readonly askId?: string;
  /** What the ask is about, where a step may ask several things. */
  readonly asked?: "failed" | "unknown" | "in_doubt" | "undo_stuck";
  /** The page token to go on from, and the pages fetched. */
  readonly page?: { readonly token: JsonValue; readonly pages: number };
  /** The ordinal to go on from. */
  readonly next?: number;
  /** Rows of this state are run again. */
  readonly again?: "failed" | "unknown";
  /** The generation whose keys the app was given, where a repeat must give the same. */
  readonly appGeneration?: number;
  /** Calls that are to be tried again, by `<ordinal>/<call>`: attempts made, and when the next one is due. */
  readonly retries?: Readonly<Record<string, { readonly attempts: number; readonly dueAt: number }>>;
  /** Ordinals from `next` on that have ended already. */
  readonly ended?: readonly number[];
  /** Of a job that is simulated first: whether its plan is to be approved afterwards. */
  readonly needsApproval?: boolean;
  /** When a wait ends. */
  readonly wakeAt?: number;
  /** The undo entry that a person chose to leave. */
  readonly leaves?: number;
  /** Running totals of a reduce by name. */
  readonly totals?: JsonValue;
};
