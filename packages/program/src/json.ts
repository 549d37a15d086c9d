export type { JsonObject, JsonValue } from "@svc/core";

/** A path into a JSON value: each member is a field name or a list index. */
export type Path = readonly (string | number)[];

/** Returns a path as a JSON Pointer (RFC 6901). */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/**
 * Returns the parts of a JSON Pointer as a list of texts. For example, `/items/0` gives `["items", "0"]`: an index of a list is a text here
 * and not a number.
 */
export function pathOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
