import postgres from "postgres";
import type { BenchContext } from "../case.ts";
import type { LoadOptions } from "../load.ts";
import { withSystem } from "../measure.ts";
import type { Variant } from "../system.ts";

/** A workload of a system, and the tables of the queue it uses. */
export type Subject = {
  readonly name: string;
  readonly post: LoadOptions["post"];
  /** A regular expression for the queue's tables, with their schema. Tables of results are not included. */
  readonly tables: string;
  /** Returns the number of finished operations. */
  done(): Promise<number>;
};

/** A system, and the workloads that run on it by turns. */
export type Host = { readonly variant: Variant; readonly subjects: readonly Subject[] };

/** A running system, with a connection to its database. */
export type RunningHost = { readonly subjects: readonly Subject[]; readonly port: number; readonly sql: postgres.Sql };

/** Starts all systems, each on a new database, and runs `use`. */
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

/** Runs `use` while a transaction of isolation REPEATABLE READ keeps a snapshot of each system's database. */
export async function whileHeld<T>(hosts: readonly RunningHost[], use: () => Promise<T>): Promise<T> {
  const [first, ...others] = hosts;
  if (first === undefined) return use();
  const { value } = await first.sql.begin("isolation level repeatable read read only", async (tx) => {
    await tx`select count(*) from pg_class`;
    return { value: await whileHeld(others, use) };
  });
  return value as T;
}
