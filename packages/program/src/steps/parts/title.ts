import type { Path } from "../../json.ts";

/** Maximum characters of an expression or a text that the title of a step quotes. */
const quotedMax = 60;

/** Returns a text from a program for the title of a step. A text that is too long ends with `…`. */
export function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= quotedMax ? line : `${line.slice(0, quotedMax - 1).toWellFormed()}…`;
}

/** Returns an expression for the title of a step: without the word `row.`, because the title is about rows. */
export function quotedRule(source: string): string {
  return quoted(source.replaceAll(/\brow\./g, ""));
}

/** Returns the paths of fields for the title of a step, such as `owner and value`. */
export function fieldsText(fields: readonly Path[]): string {
  return quoted(fields.map((field) => field.join(".")).join(", "));
}

/** Returns the name of a tool or skill in words, from its slug: `sales_crm.list_deals` gives `List deals`. */
export function slugTitle(slug: string): string {
  const name = slug.replace(/^[^.]*\./, "").replace(/@\d+$/, "");
  const words = name.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
