import type postgres from "postgres";
import type { Executor } from "../connect.ts";

/**
 * A value for `$n`. Cast every parameter in the text (`$1::uuid`, `$2::text[]`): the server infers types from there, never
 * from the value. Arrays are literals made by array-literal.ts; times are RFC 3339 text; documents are JSON text.
 */
export type StatementParameter = string | number | bigint | boolean | Uint8Array | null;

/** The rows a statement returned; `count` is how many rows it returned or changed. */
export type StatementResult<Row> = Row[] & { readonly count: number };

/** Runs a prepared text on a pool or in a transaction. */
type Statement<Row> = (
  db: Executor | postgres.ISql,
  parameters: readonly StatementParameter[],
) => Promise<StatementResult<Row>>;

/**
 * A hot SQL text, parsed and planned once per connection: from its second run on a connection it costs one round trip
 * and shares that connection with other statements in flight. `name` leads the text as a comment, so that the server's
 * statistics and logs show it. Values arrive as the driver parses them: timestamps and int8 are text.
 */
export function statement<Row extends object>(name: string, text: string): Statement<Row> {
  if (names.has(name)) throw new Error(`two statements are called ${name}`);
  names.add(name);
  const named = `/* ${name} */ ${text.trim().replace(/\s+/g, " ")}`;
  // Without `simple: false` the driver sends a text without parameters unprepared. By its key, which the patched driver knows, it
  // finds the statement without hashing the whole text for every run.
  const prepared = { prepare: true, simple: false, key: name };
  return (db, parameters) => {
    const client = "orm" in db ? db.sql : db;
    // The driver would send it only when somebody waits for it.
    const query = client.unsafe<Row[]>(named, parameters.map(parameterText), prepared).execute();
    return query as unknown as Promise<StatementResult<Row>>;
  };
}

const names = new Set<string>();

/** The names of all statements made so far: `plans.test.ts` has a plan for each. */
export function statementNames(): string[] {
  return [...names].sort();
}

/** All values go as text of unstated type: the driver keys its prepared statements by the types of the values it is given. */
function parameterText(value: StatementParameter): string | null {
  if (typeof value === "string" || value === null) return value;
  if (value instanceof Uint8Array) {
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")}`;
  }
  return String(value);
}

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
