import { plainDocument } from "./document.ts";

/** Rows that an erasure deleted, by table. */
export type ErasureCounts = Readonly<Record<string, number>>;

/** How `erasures.counts` is stored. */
export const erasureCountsDocument = plainDocument<ErasureCounts>("erasures.counts");
