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
export type Statement<Row> = (
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
