/** What clients of this era call the protocol they speak. */
export const versions: readonly string[] = ["2026-07-28"];
