import { randomBytes } from "node:crypto";

/** Secrets of the tests, by the name of the place at which they were entered. */
export type Planted = Record<string, string>;

/**
 * Values that a test has entered. `secrets`: may be found only where they were sent to. `words`: texts of a project, which others must not
 * be able to read.
 */
export type PlantedKinds = { readonly secrets: Planted; readonly words: Planted };

/** Returns a new value that occurs nowhere else. */
export function plant(name: string): string {
  return `planted-${name}-${randomBytes(4).toString("hex")}`;
}

/** Returns the forms in which a value could be stored or shown: text, hexadecimal, and base64 at each of its three offsets. */
function formsOf(value: string): string[] {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), Buffer.from(value)])
      .toString("base64")
      .slice(4, 24),
  );
  return [value, Buffer.from(value).toString("hex"), ...base64, encodeURIComponent(value)];
}

/** Returns the names of the values that occur in a text, in any form. */
export function findPlanted(planted: Planted, text: string): string[] {
  return Object.entries(planted).flatMap(([name, value]) =>
    formsOf(value).some((form) => text.includes(form)) ? [name] : [],
  );
}
