import type { CatalogView } from "@svc/catalog";
import { isObject, parseExactJson, scalarText } from "@svc/core";
import { mask } from "@svc/tools";

/** Maximum length of a payload that is read. With it, a page of events is read within a few milliseconds. */
const payloadMax = 4_096;
const fieldsMax = 4;
const textMax = 120;
/** Maximum number of objects inside objects whose values are shown. */
const depthMax = 3;

/**
 * Returns an event's payload in short: its first four simple values with their names, at most 120 characters. Sensitive values are `***`.
 * Empty for a payload of more than 4 KiB, and if the caller's catalog has no trigger `triggerSlug`: it is then unknown which values are
 * sensitive.
 */
export function glanceOf(
  { triggers }: Pick<CatalogView, "triggers">,
  { triggerSlug, payload }: { readonly triggerSlug: string; readonly payload: string },
): string {
  const trigger = triggers.get(triggerSlug);
  if (trigger === undefined || payload === "" || payload.length > payloadMax) return "";
  const fields: string[] = [];
  collect(mask(trigger.outputSchema, parseExactJson(payload)), 0, fields);
  const text = fields.join(", ");
  return text.length <= textMax ? text : `${text.slice(0, textMax - 1).toWellFormed()}…`;
}

/** Adds the simple values of an object to `fields`, until there are four. The values of an object come before those of its objects. */
function collect(value: unknown, depth: number, fields: string[]): void {
  if (!isObject(value)) return;
  const inner: unknown[] = [];
  for (const [name, child] of Object.entries(value)) {
    if (fields.length >= fieldsMax) return;
    const text = scalarText(child);
    if (text !== undefined && text !== "") fields.push(`${name} ${text.replaceAll(/\s+/g, " ").slice(0, textMax)}`);
    else if (depth < depthMax) inner.push(child);
  }
  for (const child of inner) if (fields.length < fieldsMax) collect(child, depth + 1, fields);
}
