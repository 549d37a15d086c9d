import { createId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { newJobDocuments } from "@svc/testing/job-documents";
import { pgTable, real } from "drizzle-orm/pg-core";
import { afterAll, expect, test } from "vitest";
import { connectedAccounts } from "../schema/connections.ts";
import { jobs, jobTasks } from "../schema/jobs.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { fieldsBut, fieldsOf, idOf, int4, json, type NewRow, namesBut, orNull, text, timestamptz } from "./codec.ts";
import { compose, query } from "./compose.ts";
import { insertRows } from "./insert-rows.ts";
import { type PackedRow, packedList, rows, selectList, values } from "./select-list.ts";
import { statement } from "./statement.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const odd = ['a"b\\c,{}', "", "NULL", "ü 😀\n"];

async function newAccount(): Promise<NewRow<typeof connectedAccounts>> {
  return {
    id: createId("acc", nowMs),
    projectId: await addProject(db),
    toolkitSlug: "desk",
    isPrivate: true,
    isSandbox: false,
    entityId: odd[0] ?? "",
    scheme: "basic",
    state: "expired",
    variables: { "a'b": 'c"d' },
    credential: Buffer.from([0, 255, 92, 34]),
    originDigest: null,
    grantedScopes: odd,
    extraScopes: [],
    references: [],
    lastError: "",
    credentialTriedAt: nowMs + 4,
    isCredentialTaken: false,
    createdAt: nowMs + 1,
    updatedAt: nowMs + 2,
    expiresAt: null,
    refreshAt: nowMs + 3,
    refreshLeaseUntil: undefined,
  };
}

const insertAccounts = insertRows("test_insert_accounts", connectedAccounts);
const every = selectList(connectedAccounts, namesBut(connectedAccounts), "a");
const packed = packedList(connectedAccounts, namesBut(connectedAccounts), "a");
const selectEvery = statement<Record<keyof ReturnType<typeof every.read>, unknown>>(
  "test_select_accounts",
  `select ${every.text} from connected_accounts a order by a.id`,
);
const selectPacked = statement<PackedRow>(
  "test_select_packed_accounts",
  `select ${packed.text} from connected_accounts a order by a.id`,
);

test("a row of every type of column comes back as it was written, whichever way it is read", async () => {
  const written = [await newAccount(), { ...(await newAccount()), credential: null, refreshLeaseUntil: nowMs }];
  await insertAccounts(db, written);
  await insertAccounts(db, []);
  const expected = written.map((row) => ({ ...row, refreshLeaseUntil: row.refreshLeaseUntil ?? null }));
  expect((await selectEvery(db, [])).map((row) => every.read(row))).toEqual(expected);
  expect((await selectPacked(db, [])).map((row) => packed.read(row))).toEqual(expected);
  expect(await db.orm.select().from(connectedAccounts).orderBy(connectedAccounts.id)).toEqual(expected);
});

test("columns that are left have their defaults, and only those that have one can be left", async () => {
  const insertTasks = insertRows("test_insert_tasks", jobTasks, {
    leaves: ["attempt", "losses", "leaseOwner", "leaseToken", "leaseUntil"],
    after: "returning job_id as id",
  });
  const jobId = createId("job", nowMs);
  const task = { jobId, kind: "hop", subject: "s", projectId: await addProject(db), dueAt: nowMs } as const;
  expect(await insertTasks(db, [task])).toHaveLength(1);
  expect(await db.sql`select attempt, lease_owner, lease_token from job_tasks`).toEqual([
    { attempt: 0, lease_owner: null, lease_token: "0" },
  ]);
  // @ts-expect-error a task has a kind
  const lacking = () => insertTasks(db, [{ jobId, subject: "s", projectId: task.projectId, dueAt: nowMs }]);
  // @ts-expect-error a task's kind has no default
  const wrong = () => insertRows("test_insert_nothing", jobTasks, { leaves: ["kind"] });
  expect([lacking, wrong]).toHaveLength(2);
});

test("parts are numbered in their order, and what is kept stays", async () => {
  const update = compose(
    "test_update_job",
    {
      of: values({ nowMs: timestamptz, never: orNull(int4) }),
      changed: rows({
        id: idOf("job"),
        ...fieldsOf(jobs, "status", "position", "progress"),
        params: orNull(json<object>({ write: JSON.stringify })),
        skillSlug: orNull(text),
      }),
    },
    ({ of, changed }) => query<{ never: number | null }>`update jobs j
      set ${changed.set("c", ["status", "position", "progress"])}, ${changed.setOrKeep("c", ["params", "skillSlug"], "j")},
      updated_at = ${of.nowMs} from ${changed.from("c")} where j.id = c.id returning ${of.never} as never`,
  );
  const id = createId("job", nowMs);
  const digest = Buffer.alloc(32);
  const ids = { id, projectId: await addProject(db), keyId: createId("key", nowMs) };
  const job = { ...ids, programDigest: digest, contentDigest: digest, principalChain: [], createdAt: nowMs };
  await db.orm
    .insert(jobs)
    .values({ ...newJobDocuments, ...job, status: "queued", mode: "live", skillSlug: "s", updatedAt: nowMs });
  const updated = await update(db, {
    of: { nowMs: nowMs + 5, never: null },
    changed: [
      { id, status: "running", position: 7, progress: Buffer.from("p"), params: { a: [1, null] }, skillSlug: null },
    ],
  });
  expect(updated).toEqual([{ never: null }]);
  const [row] = await db.orm.select().from(jobs);
  const expected = { status: "running", position: 7, params: { a: [1, null] }, skillSlug: "s", updatedAt: nowMs + 5 };
  expect(row).toMatchObject({ ...expected, progress: Buffer.from("p") });
});

test("rows keep their order, and their arrays can be named", async () => {
  const echo = compose(
    "test_echo_rows",
    { first: values({ n: int4 }), list: rows({ n: int4, ...fieldsOf(jobs, "principalChain") }) },
    ({ first, list }) => query<{ place: string; n: number; chain: string; size: number }>`
      select e.place, e.n + ${first.n} as n, to_json(e.principal_chain::text[])::text as chain,
        cardinality(${list.arrays.n}) as size from ${list.fromOrdered("e", "place")} order by e.place`,
  );
  const chains = [odd, [], ["x"]];
  const found = await echo(db, { first: { n: 10 }, list: chains.map((principalChain, n) => ({ n, principalChain })) });
  expect(found.map(({ chain, ...rest }) => ({ ...rest, chain: JSON.parse(chain) }))).toEqual(
    chains.map((chain, n) => ({ place: String(n + 1), n: n + 10, size: 3, chain })),
  );
});

test("a type that no column had so far, and a name taken twice, are refused", () => {
  const measured = pgTable("measured", { width: real("width") });
  expect(() => fieldsBut(measured)).toThrow("width is real, which sql/codec.ts does not know");
  expect(() => statement("test_echo_rows", "select 1")).toThrow("two statements are called test_echo_rows");
});
