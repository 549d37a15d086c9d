/** The address where a contact answers a question, and the parts of it that must stay out of every other text. */
export type ReachLink = { readonly url: string; readonly secrets: readonly string[] };
