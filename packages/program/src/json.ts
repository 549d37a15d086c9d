export type { JsonObject, JsonValue } from "@svc/core";

/** Members of a path into a value: names of fields and indexes of lists. */
export type Path = readonly (string | number)[];

/** Returns a path as a JSON Pointer (RFC 6901). */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Reads a JSON Pointer as a path. Indexes stay texts. */
export function pathOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
