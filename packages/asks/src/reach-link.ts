/**
 * The link at which a contact (a person whom svc may ask) answers the question of a job. `secrets`: the parts of the link that give access
 * to the question. svc removes these parts from all other texts.
 */
export type ReachLink = { readonly url: string; readonly secrets: readonly string[] };
