/** The state a row of a map ended in. */
export type RowState = "ok" | "failed" | "skipped" | "unknown";

/** Every state, in the order in which messages list them. */
export const rowStates = ["ok", "failed", "skipped", "unknown"] as const satisfies readonly RowState[];
