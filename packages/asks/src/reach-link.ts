/** The address at which a contact answers a question. `secrets`: the parts of the address that must not appear in any other text. */
export type ReachLink = { readonly url: string; readonly secrets: readonly string[] };
