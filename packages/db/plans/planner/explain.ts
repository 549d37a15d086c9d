import { drizzle } from "drizzle-orm/postgres-js";
import type postgres from "postgres";
import { type Database, type Executor, withTransaction } from "../../src/connect.ts";

/** SQL text and parameters of a statement, as the PostgreSQL driver received them. */
export type SentStatement = { readonly text: string; readonly parameters: readonly unknown[] };

/**
 * How PostgreSQL plans a statement. `custom`: for the given parameter values, as in the first five runs of a prepared statement. `generic`:
 * for any values, as in most later runs.
 */
export type PlanMode = "custom" | "generic";

/** What a query plan reads and writes, by table of svc. */
export type TableReads = {
  /** The writes of the plan, each as its kind and its table, for example `update jobs`. */
  readonly writes: readonly string[];
  /**
   * How PostgreSQL reads each table of the statement. The key is the table's name. The values are an index with the columns searched
   * (`jobs_pkey(id)`), `Seq Scan` (the whole table), or `ctid` (by the physical address of rows).
   */
  readonly access: Readonly<Record<string, readonly string[]>>;
  /**
   * For each table, the number of rows that the plan read, including rows that a filter dropped. A row that is read twice counts twice. All
   * numbers are 0 if the statement was not run.
   */
  readonly rows: Readonly<Record<string, number>>;
  /** Number of buffers (pages) read, cached or not, without those read for planning. 0 if the statement was not run. */
  readonly buffers: number;
  /** True if the plan sorts rows that an index could return in order. */
  readonly isSorted: boolean;
};

/** Runs the function `run` in a transaction, rolls the transaction back, and returns the statements that `run` sent. */
export async function sentBy(
  db: Database,
  run: (executor: Executor) => Promise<unknown>,
  isLast: (text: string) => boolean = () => false,
): Promise<SentStatement[]> {
  const sent: SentStatement[] = [];
  const wasLast = new Error("the last one that is asked for");
  await rolledBack(db, async (tx) => {
    const sql = new Proxy(tx.sql, {
      get(target, name) {
        // The query builder reads the driver's options, which only the pool has and a transaction does not.
        if (name === "options") return db.sql.options;
        if (name !== "unsafe") return Reflect.get(target, name, target);
        return (text: string, parameters: readonly unknown[] = [], options: object = {}) => {
          sent.push({ text, parameters });
          if (isLast(text)) throw wasLast;
          return target.unsafe(text, parameters as never[], options);
        };
      },
    });
    await run({ sql, orm: drizzle(sql as unknown as postgres.Sql) }).catch((error: unknown) => {
      if (!sent.some(({ text }) => isLast(text))) throw error;
    });
  });
  return sent;
}

/**
 * How to plan a statement. `randomPageCost`: PostgreSQL's setting `random_page_cost`. The default is the value of the embedded database,
 * which is also the value recommended for flash disks.
 */
export type ExplainOptions = { readonly mode: PlanMode; readonly isRun?: boolean; readonly randomPageCost?: number };

/**
 * Returns the query plan of a statement. With `isRun`, it also runs the statement and rolls it back, so that the numbers of rows are known.
 */
export async function explain(db: Database, statement: SentStatement, options: ExplainOptions): Promise<TableReads> {
  const [reads] = await explainAll(db, [statement], options);
  if (reads === undefined) throw new Error("the server told no plan");
  return reads;
}

/**
 * Returns the query plans of statements, in the order of the statements. All statements are planned in one transaction, which is rolled
 * back.
 */
export async function explainAll(
  db: Database,
  statements: readonly SentStatement[],
  { mode, isRun = false, randomPageCost = 1.1 }: ExplainOptions,
): Promise<TableReads[]> {
  const plans: RawNode[] = [];
  const options = isRun ? "analyze, buffers, format json" : "format json";
  await rolledBack(db, async ({ sql: tx }) => {
    await tx.unsafe(`set local plan_cache_mode = force_${mode}_plan; set local random_page_cost = ${randomPageCost}`);
    for (const { text, parameters } of statements) {
      // One message to PostgreSQL for each statement, because waiting for answers takes most of the time.
      const given = parameters.length === 0 ? "" : `(${parameters.map(literal).join(", ")})`;
      const [, told] = (await tx.unsafe(
        `prepare explained as ${text};\nexplain (${options}) execute explained${given};\ndeallocate explained`,
      )) as unknown as { "QUERY PLAN": [{ Plan: RawNode }] }[][];
      const plan = told?.[0]?.["QUERY PLAN"][0].Plan;
      if (plan === undefined) throw new Error("the server told no plan");
      plans.push(plan);
    }
  });
  const columns = await indexColumns(db);
  return plans.map((plan) => readsOf(nodesOf(plan), columns));
}

async function rolledBack(db: Database, run: (tx: Executor) => Promise<void>): Promise<void> {
  const over = new Error("rolled back");
  await withTransaction(db, async (tx) => {
    await run(tx);
    throw over;
  }).catch((error: unknown) => {
    if (error !== over) throw error;
  });
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return "null";
  const text = value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : String(value);
  return `'${text.replaceAll("'", "''")}'`;
}

type RawNode = {
  "Node Type": string;
  Operation?: string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  "TID Cond"?: string;
  "Actual Rows"?: number;
  "Actual Loops"?: number;
  "Rows Removed by Filter"?: number;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  Plans?: RawNode[];
};

function nodesOf(node: RawNode): RawNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

const columnsByIndex = new WeakMap<Database, Promise<Map<string, string[]>>>();

/** Returns the columns of every index of svc. They are read from the database once and then cached. */
function indexColumns(db: Database): Promise<Map<string, string[]>> {
  const known = columnsByIndex.get(db) ?? readIndexColumns(db);
  columnsByIndex.set(db, known);
  return known;
}

async function readIndexColumns(db: Database): Promise<Map<string, string[]>> {
  const rows = await db.sql<{ name: string; columns: string[] }[]>`
    select c.relname as name, to_json(array(select pg_get_indexdef(i.indexrelid, k, true) from generate_series(1, i.indnkeyatts) k)) as columns
    from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace = 'public'::regnamespace`;
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

function readsOf(nodes: readonly RawNode[], columns: Map<string, string[]>): TableReads {
  const access: Record<string, Set<string>> = {};
  const rows: Record<string, number> = {};
  for (const node of nodes) {
    const table = node["Relation Name"];
    // Skips PostgreSQL's own tables, and nodes of the plan that do not scan a table.
    if (table === undefined || table.startsWith("pg_") || !node["Node Type"].includes("Scan")) continue;
    access[table] ??= new Set();
    for (const one of accessesOf(node, columns)) access[table].add(one);
    const read = (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0);
    rows[table] = (rows[table] ?? 0) + Math.round(read * (node["Actual Loops"] ?? 0));
  }
  const writing = nodes.filter((node) => node["Node Type"] === "ModifyTable");
  return {
    writes: [...new Set(writing.map((node) => `${node.Operation?.toLowerCase()} ${node["Relation Name"]}`))].sort(),
    access: Object.fromEntries(Object.entries(access).map(([table, found]) => [table, [...found].sort()])),
    rows,
    // The first node of a plan counts the buffers of all nodes below it.
    buffers: (nodes[0]?.["Shared Hit Blocks"] ?? 0) + (nodes[0]?.["Shared Read Blocks"] ?? 0),
    isSorted: nodes.some((node) => node["Node Type"].endsWith("Sort")),
  };
}

function accessesOf(node: RawNode, columns: Map<string, string[]>): string[] {
  if (node["Node Type"] === "Bitmap Heap Scan") {
    // A bitmap scan names its indexes in the nodes below it.
    const below = (node.Plans ?? []).flatMap(nodesOf).filter((child) => child["Node Type"] === "Bitmap Index Scan");
    return below.map((child) => indexAccess(child, columns));
  }
  if (node["Node Type"] === "Tid Scan") return ["ctid"];
  return node["Index Name"] === undefined ? [node["Node Type"]] : [indexAccess(node, columns)];
}

function indexAccess(node: RawNode, columns: Map<string, string[]>): string {
  const index = node["Index Name"] ?? "";
  const condition = node["Index Cond"] ?? "";
  const searched = (columns.get(index) ?? []).filter((name) => isSearched(name, condition));
  return `${index}(${searched.join(", ")})`;
}

function isSearched(column: string, condition: string): boolean {
  // PostgreSQL may put brackets around an expression in a plan where the definition of the index has none, so both are compared without
  // brackets.
  if (/\W/.test(column)) return withoutBrackets(condition).includes(withoutBrackets(column));
  // A plan writes columns of other tables with an alias and a dot in front. The expression must not match those.
  return new RegExp(`(?<![.\\w])${column}(?!\\w)`).test(condition);
}

function withoutBrackets(text: string): string {
  return text.replaceAll(/[()]/g, "");
}
