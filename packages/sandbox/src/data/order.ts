import type { Field } from "./fields.ts";

/** How a list is ordered: by which field, and whether the greatest comes first. */
export type Order = { readonly field: Field; readonly isDescending: boolean };
