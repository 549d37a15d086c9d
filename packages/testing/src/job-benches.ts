import { uuidOfId } from "@svc/core";
import type { TestClock } from "./clock.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import type { World } from "./desk.ts";
import { createBench, type JobReading, type TestBench } from "./job-bench.ts";

/** Test benches for the jobs of one test file. All benches share one database. */
export type Benches = {
  bench(world?: World, clock?: TestClock): Promise<TestBench>;
  /** Stops the job engines of all test benches that this object created. Call it after every test. */
  stop(): Promise<void>;
  /** Drops the shared database. Call it after the last test of the file. */
  drop(): Promise<void>;
};

/** Returns an object that creates test benches (engines for jobs and a test app) over one shared database. */
export function createBenches(): Benches {
  let database: Promise<TestDatabase> | undefined;
  const made: TestBench[] = [];
  return {
    async bench(world, clock) {
      database ??= createTestDatabase();
      const bench = await createBench((await database).db, world, clock);
      made.push(bench);
      return bench;
    },
    async stop() {
      await Promise.all(made.splice(0).map((bench) => bench.stop()));
    },
    async drop() {
      await (await database)?.drop();
    },
  };
}

/** Returns the number of a project's job tasks. */
export async function countTasks({ db, projectId }: TestBench): Promise<number> {
  const rows = await db.sql.unsafe<{ project_id: string }[]>("select project_id from job_tasks");
  return rows.filter((row) => row.project_id === uuidOfId(projectId)).length;
}

/** Returns the types of a job's log entries, in order. */
export function typesOf({ events }: JobReading): string[] {
  return events.map(({ type }) => type);
}

/** Returns a `map` step that sends a note for each item of the test app. `changes` override fields of the step. */
export function sendAll(
  changes: object = {},
  { tool = "desk.send_note", ...program }: { tool?: string } & Record<string, unknown> = {},
) {
  return {
    steps: [
      fetchItems(),
      {
        id: "send",
        map: "items",
        concurrency: 4,
        do: [{ id: "note", call: tool, entity: "ops", args: { text: { $ref: "row.id" } } }],
        ...changes,
      },
    ],
    ...program,
  };
}

/** Returns a step that fetches the items of the test app as rows. */
export function fetchItems(changes: object = {}) {
  return {
    id: "items",
    call: "desk.list_items",
    entity: "ops",
    args: {},
    rows: { from: "items[]", key: "id", keep: ["id", "n", "secret"], page: { arg: "page", from: "next", max: 40 } },
    ...changes,
  };
}
