import type { JsonValue } from "@svc/program";

/** What a text costs beside its characters; an object or a list beside what stands in it; and each thing that does. */
const textBytes = 24;
const containerBytes = 64;
const entryBytes = 24;

/** About how many bytes a text takes in memory, where it may have characters of any language. */
export function memoryOfText({ length }: string): number {
  return textBytes + 2 * length;
}

/** About how many bytes a value takes in memory. */
export function memoryOf(value: JsonValue): number {
  if (typeof value === "string") return memoryOfText(value);
  if (typeof value !== "object" || value === null) return entryBytes;
  let bytes = containerBytes;
  for (const item of Array.isArray(value) ? value : Object.values(value)) bytes += entryBytes + memoryOf(item);
  return bytes;
}
