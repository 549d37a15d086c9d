import postgres from "postgres";
import type { BenchContext } from "../case.ts";
import type { LoadOptions } from "../load.ts";
import { withSystem } from "../measure.ts";
import type { Variant } from "../system.ts";

/** Work that a system is asked for, and the tables of its queue. */
export type Subject = {
  readonly name: string;
  readonly post: LoadOptions["post"];
  /** Those of its queue, with their schema, as a regular expression. What came of it is kept apart from them. */
  readonly tables: string;
  /** What was done so far. */
  done(): Promise<number>;
};

/** A system, and what it is asked for in turn. */
export type Host = { readonly variant: Variant; readonly subjects: readonly Subject[] };

/** A host that is up, with a connection to its database. */
export type RunningHost = { readonly subjects: readonly Subject[]; readonly port: number; readonly sql: postgres.Sql };

/** Starts all hosts, each on a database of its own, and runs `use`. */
export async function withHosts<T>(
  ctx: BenchContext,
  hosts: readonly Host[],
  use: (running: readonly RunningHost[]) => Promise<T>,
): Promise<T> {
  const [first, ...others] = hosts;
  if (first === undefined) return use([]);
  const { variant, subjects } = first;
  let databaseUrl = "";
  const observed: Variant = {
    name: variant.name,
    start(setup) {
      databaseUrl = setup.databaseUrl;
      return variant.start(setup);
    },
  };
  return withSystem(ctx, observed, { post: "calendar" }, async ({ port }) => {
    const sql = postgres(databaseUrl, { max: 2, onnotice: () => {} });
    try {
      return await withHosts(ctx, others, (running) => use([{ subjects, port, sql }, ...running]));
    } finally {
      await sql.end();
    }
  });
}

/** Runs `use` while a transaction of REPEATABLE READ holds a snapshot of each host's database. */
export async function whileHeld<T>(hosts: readonly RunningHost[], use: () => Promise<T>): Promise<T> {
  const [first, ...others] = hosts;
  if (first === undefined) return use();
  const { value } = await first.sql.begin("isolation level repeatable read read only", async (tx) => {
    await tx`select count(*) from pg_class`;
    return { value: await whileHeld(others, use) };
  });
  return value as T;
}
