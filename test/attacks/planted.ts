import { randomBytes } from "node:crypto";

/** Values planted by the name of where they were put. */
export type Planted = Record<string, string>;

/** Where planted values may not be: secrets nowhere but where they went; a project's own words where others read. */
export type PlantedKinds = { readonly secrets: Planted; readonly words: Planted };

/** A value that stands nowhere else. */
export function plant(name: string): string {
  return `planted-${name}-${randomBytes(4).toString("hex")}`;
}

/** A value in the forms in which it could be kept or shown: text, hexadecimal, base64 at each of its three offsets. */
function formsOf(value: string): string[] {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), Buffer.from(value)])
      .toString("base64")
      .slice(4, 24),
  );
  return [value, Buffer.from(value).toString("hex"), ...base64, encodeURIComponent(value)];
}

/** The names of the values that stand in a text, in any form. */
export function findPlanted(planted: Planted, text: string): string[] {
  return Object.entries(planted).flatMap(([name, value]) =>
    formsOf(value).some((form) => text.includes(form)) ? [name] : [],
  );
}
