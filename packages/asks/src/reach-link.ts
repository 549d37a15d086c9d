/** Where a contact answers a question, and what of that no text may repeat. */
export type ReachLink = { readonly url: string; readonly secrets: readonly string[] };
