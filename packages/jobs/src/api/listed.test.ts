import { createId, type Id } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import type { JobFilter } from "@svc/db/jobs/list-filter";
import { expect, test } from "vitest";
import { readPage } from "./listed.ts";

const filter: JobFilter = {
  statuses: undefined,
  sinceMs: undefined,
  untilMs: undefined,
  mode: undefined,
  skillSlug: undefined,
  parentJobId: undefined,
  standingProgramId: undefined,
};

/** Returns a fake store of jobs whose programs have `bytes` bytes each, newest first. `read` contains the size of each read. */
function repositoryOf(count: number, bytes: number) {
  const program = "p".repeat(bytes);
  const jobs = Array.from(
    { length: count },
    (_, index) => ({ id: createId("job", 1e12 - index), program }) as ListedJob,
  );
  const read: number[] = [];
  return {
    jobs,
    read,
    async list(_filter: JobFilter, { after, limit }: { after: Id<"job"> | undefined; limit: number }) {
      read.push(limit);
      const start = after === undefined ? 0 : jobs.findIndex(({ id }) => id === after) + 1;
      return jobs.slice(start, start + limit);
    },
  };
}

test("a page of small jobs is read whole, with one beyond it", async () => {
  const repository = repositoryOf(130, 10);
  const { rows, size } = await readPage(repository, filter, { after: undefined, size: 120 });
  expect([rows.map(({ id }) => id), size]).toEqual([repository.jobs.slice(0, 121).map(({ id }) => id), 120]);
  const last = await readPage(repository, filter, { after: rows[119]!.id, size: 120 });
  expect([last.rows.length, last.size]).toEqual([10, 120]);
});

test("a page of large jobs ends early, and no more of them are read than fit", async () => {
  const repository = repositoryOf(500, 262_144);
  const { rows, size } = await readPage(repository, filter, { after: undefined, size: 500 });
  expect([rows.length, size]).toEqual([33, 32]);
  expect(repository.read).toEqual([50]);
});

test("a page has at least one job, however large", async () => {
  const { rows, size } = await readPage(repositoryOf(2, 9_000_000), filter, { after: undefined, size: 50 });
  expect([rows.length, size]).toEqual([2, 1]);
});
