import { createId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { newJobDocuments } from "@svc/testing/job-documents";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../connect.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { insertJobs } from "./insert.ts";
import { createJobCounts } from "./job-counts.ts";

const { db, url, drop } = await createTestDatabase();
/** Uses one connection only, so that PostgreSQL's usage statistics show its reads at once. */
const one = openDatabase({ url, connectionsMax: 1 });
afterAll(async () => {
  await one.close();
  await drop();
});

const digest = Buffer.alloc(32, 7);

async function submit(projectId: Awaited<ReturnType<typeof addProject>>) {
  const job = {
    ...{ id: createId("job", nowMs), projectId, programDigest: digest },
    ...{ ...newJobDocuments, keyId: createId("key", nowMs), principalChain: ["key:k"], contentDigest: digest },
    ...{ createdAt: nowMs, updatedAt: nowMs },
    status: "queued" as const,
    mode: "live" as const,
  };
  const program = { projectId, digest, program: "{}", sealedProgram: null, programHash: "h", pins: "{}" };
  return await insertJobs(one, program, [{ job, events: [], tasks: [] }], nowMs);
}

/** Returns how many index entries of jobs by status `work` reads, including dead ones. */
async function readBy(work: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    await one.sql`select pg_stat_force_next_flush()`;
    const [row] = await one.sql<{ read: number }[]>`
      select idx_tup_read::int4 as read from pg_stat_user_indexes where indexrelname = 'jobs_status'`;
    return row?.read ?? 0;
  };
  const before = await read();
  await work();
  return (await read()) - before;
}

test("while a snapshot is held, what has ended meanwhile is walked over once a second, not with every submission", async () => {
  const projectId = await addProject(one);
  const reader = openDatabase({ url, connectionsMax: 1 });
  onTestFinished(() => reader.close());
  await reader.sql.unsafe("begin isolation level repeatable read", [], { simple: true } as object);
  await reader.sql.unsafe("select count(*) from projects");
  await submit(projectId);
  await one.sql`insert into jobs (id, project_id, status, mode, program_digest, params, step_args, key_id, principal_chain, content_digest,
      estimate, used, saga, created_at, updated_at)
    select gen_random_uuid(), j.project_id, j.status, j.mode, j.program_digest, j.params, j.step_args, j.key_id, j.principal_chain,
      j.content_digest, j.estimate, j.used, j.saga, j.created_at, j.updated_at from jobs j, generate_series(1, 2000)`;
  await one.sql`update jobs set status = 'succeeded', finished_at = updated_at`;
  const read = await readBy(async () => {
    for (let count = 0; count < 20; count++) expect(await submit(projectId)).toBeUndefined();
  });
  expect(read).toBeLessThan(2 * 2_100);
});

test("a new quota applies from the next submission on, despite remembered counts", async () => {
  const projectId = await addProject(db);
  expect(await submit(projectId)).toBeUndefined();
  await db.sql`insert into project_policies (project_id, quotas) values (${uuidOfId(projectId)}::uuid, '{"jobs": 2}')`;
  expect(await submit(projectId)).toBeUndefined();
  expect(await submit(projectId)).toEqual({ quotaReached: { most: 2, used: 2 } });
});

test("a count lasts ten times as long as it took, a second at least and five at most, with what was stored since", () => {
  let nowMs = 0;
  const counted = createJobCounts(() => nowMs);
  const [a, b] = [createId("prj", 1), createId("prj", 2)];
  counted.add(a, 5);
  expect(counted.find(a)).toBeUndefined();
  counted.keep(a, 10, 1);
  counted.keep(b, 7, 300);
  counted.add(a, 5);
  expect([counted.find(a), counted.find(b)]).toEqual([15, 7]);
  nowMs = 1_000;
  expect([counted.find(a), counted.find(b)]).toEqual([undefined, 7]);
  nowMs = 3_000;
  expect(counted.find(b)).toBeUndefined();
  counted.keep(b, 1, 60_000);
  nowMs = 7_999;
  expect(counted.find(b)).toBe(1);
  nowMs = 8_000;
  expect(counted.find(b)).toBeUndefined();
});
