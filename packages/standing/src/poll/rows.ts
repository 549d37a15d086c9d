/** Why the rows of an answer cannot be taken. */
export type RowsFault = { readonly code: "POLL_ROWS_INVALID" | "POLL_ID_MISSING"; readonly message: string };
