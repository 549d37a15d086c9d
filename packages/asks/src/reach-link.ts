/** The address at which a contact answers a question. `secrets`: the secret parts of the address. svc removes them from all other texts. */
export type ReachLink = { readonly url: string; readonly secrets: readonly string[] };
