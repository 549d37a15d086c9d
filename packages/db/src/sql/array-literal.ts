/** An element of `arrayLiteral`; null is SQL's NULL. */
export type ArrayElement = string | number | bigint | boolean | null;

/**
 * The text of a one-dimensional PostgreSQL array, to be cast in the statement: `$1::uuid[]`, `$2::text[]`,
 * `$3::timestamptz[]` of RFC 3339 texts, `$4::int4[]`, `$5::jsonb[]` of JSON texts. A lone surrogate becomes U+FFFD; the
 * server refuses U+0000.
 *
 * Measured on an insert of 200 rows through unnest, one column being 1.1 KB of JSON text: 3.3 ms a batch, 1.7 of them on
 * our CPU, against 7.7 and 4.8 with the driver's own arrays. `{…}` filled by JSON.stringify is what makes the
 * difference: quotes and backslashes are escaped alike in both notations, and it does so at a fifth of replace's cost.
 */
export function arrayLiteral(elements: readonly ArrayElement[]): string {
  for (const element of elements) {
    if (!isAlikeInJson(element)) return `{${elements.map(elementText).join(",")}}`;
  }
  return `{${JSON.stringify(elements).slice(1, -1)}}`;
}

/** The same of elements that need no quotes, as UUIDs, numbers, times and truth values do not: nothing is looked for in them. */
export function plainArrayLiteral(elements: readonly ArrayElement[]): string {
  // Joining leaves null out.
  return elements.includes(null) ? `{${elements.map(String).join(",")}}` : `{${elements.join(",")}}`;
}

/** The text of an array of byte strings, for `$1::bytea[]`. */
export function bytesArrayLiteral(elements: readonly (Uint8Array | null)[]): string {
  return `{${elements.map((bytes) => (bytes === null ? "null" : `"\\\\x${hex(bytes)}"`)).join(",")}}`;
}

/** False where JSON writes `\n`, `\u001f` or a number's null, which an array would read as n, u001f or NULL. */
function isAlikeInJson(element: ArrayElement): boolean {
  if (typeof element === "string") return !controlCharacter.test(element) && element.isWellFormed();
  if (typeof element === "number") return Number.isFinite(element);
  return typeof element !== "bigint";
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters JSON escapes in its own way
const controlCharacter = /[\u0000-\u001f]/;

function elementText(element: ArrayElement): string {
  if (typeof element === "string") return `"${element.replace(/["\\]/g, "\\$&")}"`;
  return String(element);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
