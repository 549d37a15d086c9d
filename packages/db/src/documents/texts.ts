import { plainDocument } from "./document.ts";

/** Texts by names that are not ours. */
export type TextsDocument = Readonly<Record<string, string>>;

/** How `connected_accounts.variables` is stored: by the names that the toolkit declares. */
export const variablesDocument = plainDocument<TextsDocument>("connected_accounts.variables");

/** How `quarantined_posts.headers` is stored. */
export const headersDocument = plainDocument<TextsDocument>("quarantined_posts.headers");

/** How `quarantined_posts.query` is stored. */
export const queryDocument = plainDocument<TextsDocument>("quarantined_posts.query");
