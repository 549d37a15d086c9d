import type postgres from "postgres";
import type { Executor } from "../connect.ts";

/**
 * A value for the parameter `$n` of a statement. Cast every parameter in the text (`$1::uuid`, `$2::text[]`), because the server takes
 * types from the casts, never from the values. Pass arrays as literals (`arrayLiteral`), times as RFC 3339 text, and documents as JSON
 * text.
 */
export type StatementParameter = string | number | bigint | boolean | Uint8Array | null;

/** Rows of a statement; `count` is the number of rows returned or changed. */
export type StatementResult<Row> = Row[] & { readonly count: number };

/** Runs a prepared text on a pool or in a transaction. */
type Statement<Row> = (
  db: Executor | postgres.ISql,
  parameters: readonly StatementParameter[],
) => Promise<StatementResult<Row>>;

/**
 * Returns a function that runs a frequently used SQL statement. PostgreSQL parses and plans it once per connection, so each further run
 * needs one round trip. `name` is put into a comment in the text, for statistics and logs. Values are returned as the driver returns them:
 * timestamps and int8 are text.
 */
export function statement<Row extends object>(name: string, text: string): Statement<Row> {
  if (names.has(name)) throw new Error(`two statements are called ${name}`);
  names.add(name);
  const named = `/* ${name} */ ${text.trim().replace(/\s+/g, " ")}`;
  // Without `simple: false`, the driver does not prepare a statement that has no parameters. The patched driver finds a prepared statement
  // by `key`, so that it does not hash the text on every run.
  const prepared = { prepare: true, simple: false, key: name };
  return (db, parameters) => {
    const client = "orm" in db ? db.sql : db;
    // Sends the query now. Otherwise, the driver sends a query only when its result is awaited.
    const query = client.unsafe<Row[]>(named, parameters.map(parameterText), prepared).execute();
    return query as unknown as Promise<StatementResult<Row>>;
  };
}

const names = new Set<string>();

/** Returns the names of all statements made so far. `plans.test.ts` checks that it has a query plan for each of them. */
export function statementNames(): string[] {
  return [...names].sort();
}

/**
 * Returns a parameter as untyped text. All parameters are sent in this form, because the PostgreSQL driver prepares a statement again for
 * each combination of value types.
 */
function parameterText(value: StatementParameter): string | null {
  if (typeof value === "string" || value === null) return value;
  if (value instanceof Uint8Array) {
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`;
  }
  return String(value);
}

/** An element of a PostgreSQL array that `arrayLiteral` writes as text; null becomes SQL's NULL. */
export type ArrayElement = string | number | bigint | boolean | null;

/**
 * Returns `elements` as the text of a one-dimensional PostgreSQL array. The statement casts it, for example `$1::uuid[]`. Times are RFC
 * 3339 texts, and elements for `jsonb[]` are JSON texts.
 */
export function arrayLiteral(elements: readonly ArrayElement[]): string {
  // JSON and arrays escape quotes and backslashes in the same way. JSON.stringify is five times faster than `replace`.
  // A lone surrogate becomes U+FFFD; PostgreSQL refuses U+0000.
  if (!elements.every(isAlikeInJson)) return `{${elements.map(elementText).join(",")}}`;
  return `{${JSON.stringify(elements).slice(1, -1)}}`;
}

/**
 * Returns the text of an array as `arrayLiteral` does, for elements that never need quotes (UUIDs, numbers, times, booleans). It does not
 * search the elements for characters to quote, so it is faster.
 */
export function plainArrayLiteral(elements: readonly ArrayElement[]): string {
  // Without this, `join` would write null as an empty text.
  return elements.includes(null) ? `{${elements.map(String).join(",")}}` : `{${elements.join(",")}}`;
}

/** Returns the text of an array of byte strings, for `$1::bytea[]`. */
export function bytesArrayLiteral(elements: readonly (Uint8Array | null)[]): string {
  return `{${elements.map((bytes) => (bytes === null ? "null" : `"\\\\x${hex(bytes)}"`)).join(",")}}`;
}

/**
 * True if the JSON text of an element is also its text in a PostgreSQL array. False for texts with control characters: JSON writes them as
 * sequences such as `\u001f`, which PostgreSQL would read as `u001f`. False for numbers such as NaN: JSON writes null for them, which
 * PostgreSQL would read as NULL.
 */
function isAlikeInJson(element: ArrayElement): boolean {
  if (typeof element === "string") return !controlCharacter.test(element) && element.isWellFormed();
  if (typeof element === "number") return Number.isFinite(element);
  return typeof element !== "bigint";
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes these characters differently from PostgreSQL
const controlCharacter = /[\u0000-\u001f]/;

function elementText(element: ArrayElement): string {
  if (typeof element === "string") return `"${element.replace(/["\\]/g, "\\$&")}"`;
  return String(element);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
