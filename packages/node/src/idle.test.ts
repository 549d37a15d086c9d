import { setImmediate as turn } from "node:timers/promises";
import { systemClock, uuidOfId } from "@svc/core";
import { type Database, openDatabase } from "@svc/db/connect";
import { createProject } from "@svc/db/projects/repo";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { createTestNode } from "@svc/testing/node";
import { afterAll, expect, test } from "vitest";
import { engineNames } from "./parts.ts";

const { url, db, drop } = await createTestDatabase();
afterAll(drop);

const lanes = 10_000;

/** Creates endpoints that always fail, each with one delivery that is due again in three hours. */
async function fillLanes(nowMs: number): Promise<void> {
  const projectId = uuidOfId((await createProject(db, "dead", systemClock.now())).id);
  const id = "md5('lane' || n)::uuid";
  const series = `from generate_series(1, ${lanes}) n`;
  const dueAt = `'${new Date(nowMs + 3 * 3_600_000).toISOString()}'::timestamptz`;
  await db.sql.unsafe(
    `insert into subscriptions (id, project_id, endpoint_url, toolkit_slug, trigger_slug, signing_secret, created_at)
     select ${id}, '${projectId}', 'http://127.0.0.1:1/', '', '', '', now() ${series}`,
  );
  await db.sql.unsafe(
    `insert into deliveries (project_id, id, event_id, subscription_id, state, attempts, next_attempt_at)
     select '${projectId}', ${id}, ${id}, ${id}, 'pending', 5, ${dueAt} ${series}`,
  );
  await db.sql.unsafe(
    `insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, attempts, due_at, epoch)
     select ${id}, '${projectId}', ${id}, ${id}, 5, ${dueAt}, 0 ${series}`,
  );
}

/** Counts the statements that are sent through a pool. Reports when no statement has been running for some turns of the event loop. */
function watchStatements(pool: Database): { count(): number; settled(): Promise<void> } {
  let count = 0;
  let underWay = 0;
  const send = pool.sql.unsafe.bind(pool.sql);
  Object.assign(pool.sql, {
    unsafe: (...statement: Parameters<typeof send>) => {
      count++;
      underWay++;
      const query = send(...statement);
      const ended = () => void underWay--;
      query.then(ended, ended);
      return query;
    },
  });
  return {
    count: () => count,
    async settled() {
      for (let quiet = 0; quiet < 4; quiet = underWay === 0 ? quiet + 1 : 0) await turn();
    },
  };
}

test("an idle node asks the store less than 300 times a minute, with a delivery that waits in each of 10,000 lanes", async () => {
  const clock = createTestClock();
  await fillLanes(clock.now());
  const pool = openDatabase({ url, connectionsMax: 4 });
  const sent = watchStatements(pool);
  {
    await using node = createTestNode(pool, { clock, engines: engineNames });
    const pass = async (seconds: number) => {
      for (let step = 0; step < 4 * seconds; step++) {
        clock.advance(250);
        await sent.settled();
      }
    };
    await sent.settled();
    await pass(70);
    const before = sent.count();
    await pass(60);
    const asked = sent.count() - before;
    process.stdout.write(`an idle minute: ${asked} statements\n`);
    expect(asked).toBeGreaterThan(60);
    expect(asked).toBeLessThan(300);
    expect(node.told.failures).toEqual([]);
    expect(node.told.attempts).toEqual([]);
  }
  await pool.close();
});
