// The runtime has raw JSON (ECMAScript's JSON.parse source text access); the compiler's library does not know it yet.
const json = JSON as JSON & { rawJSON(text: string): object; isRawJSON(value: unknown): boolean };

/** A value that JSON.stringify writes as the given JSON text of one number or text. */
export function rawJson(text: string): object {
  return json.rawJSON(text);
}

/** Whether a value was made by `rawJson`. */
export function isRawJson(value: unknown): boolean {
  return json.isRawJSON(value);
}
