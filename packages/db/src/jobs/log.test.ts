import { createId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { newJobDocuments } from "@svc/testing/job-documents";
import { afterAll, expect, test } from "vitest";
import { logEntriesDocument } from "../documents/log-entries.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { insertJobs } from "./insert.ts";
import { appendJobEvents, logRowsOf } from "./log.ts";
import { chainOfJob, storedChain } from "./principals.ts";
import type { NewJobEvent } from "./record.ts";
import { jobsForProject } from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const entry = (type: string, part: Partial<NewJobEvent> = {}): NewJobEvent => ({
  type,
  stepId: "s",
  payload: '{"text":"a\\tb\\n\\"c\\" ü"}',
  principalChain: null,
  ...part,
});

/** Adds a job whose log begins with these entries. Returns a function that reads the log. */
async function jobWith(...events: readonly NewJobEvent[]) {
  const projectId = await addProject(db);
  const id = createId("job", nowMs);
  const digest = Buffer.alloc(32, 1);
  const job = {
    ...newJobDocuments,
    id,
    projectId,
    status: "queued" as const,
    mode: "live" as const,
    programDigest: digest,
    keyId: createId("key", nowMs),
    principalChain: ["key:k"],
    contentDigest: digest,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
  const program = { projectId, digest, program: "{}", sealedProgram: null, programHash: "h", pins: "{}" };
  await insertJobs(db, program, [{ job, events, tasks: [] }], nowMs);
  const jobs = jobsForProject(db, projectId);
  return { id, list: (afterSeq: number, limit = 100) => jobs.listEvents(id, { afterSeq, limit }) };
}

test("what is written together shares a row, and is read entry by entry, from any place and in any number", async () => {
  const log = await jobWith(entry("a"), entry("b", { stepId: "", principalChain: ["key:x", "clock"] }), entry("c"));
  await appendJobEvents(db, log.id, [entry("d"), entry("e")], nowMs + 5);
  await appendJobEvents(db, log.id, [entry("f")], nowMs + 6);
  const [{ rows } = { rows: 0 }] = await db.sql<{ rows: number }[]>`select count(*)::int4 as rows from job_events`;
  expect(rows).toBe(3);
  const all = await log.list(0);
  expect(all.map(({ type, seq }) => [type, seq])).toEqual([..."abcdef"].map((type, index) => [type, index + 1]));
  expect(all[1]).toEqual({
    jobId: log.id,
    seq: 2,
    at: nowMs,
    type: "b",
    stepId: "",
    payload: '{"text":"a\\tb\\n\\"c\\" ü"}',
    principalChain: ["key:x", "clock"],
  });
  expect(all[2]?.principalChain).toEqual(["key:k"]);
  expect(all[4]?.at).toBe(nowMs + 5);
  for (let after = 0; after <= 7; after++) {
    for (const limit of [1, 2, 3, 100]) {
      expect(await log.list(after, limit), `${limit} after ${after}`).toEqual(all.slice(after, after + limit));
    }
  }
});

test("a row stays small, and one entry of any size is a row", () => {
  const long = "x".repeat(1_000);
  const rows = logRowsOf([entry("a", { payload: long }), entry("b", { payload: long }), entry("c"), entry("d")]);
  expect(rows.map(({ seq, type, following }) => [seq, type, following?.map((one) => one.type)])).toEqual([
    [1, "a", undefined],
    [2, "b", ["c", "d"]],
  ]);
  expect(logRowsOf([])).toEqual([]);
});

test("entries are stored unchanged for any values, and earlier formats are readable", () => {
  const plain = [entry("a"), entry("b", { stepId: "", principalChain: ["key:x"] })];
  for (const entries of [plain, [...plain, entry("c", { payload: "a\tb\n" })], [entry("[x"), entry("1")], []]) {
    expect(logEntriesDocument.read(JSON.parse(logEntriesDocument.write(entries)))).toEqual(entries);
  }
  const usual = [
    entry("job-status-changed", { stepId: "", payload: '{"from":"queued","to":"running","reason":"started"}' }),
    entry("step-started", { payload: '{"kind":"call","attempt":1}' }),
    entry("step-finished", {
      payload: '{"state":"completed","rows":{"in":3,"ok":1,"failed":2,"skipped":0,"unknown":0}}',
    }),
    entry("job-status-changed", { stepId: "", payload: '{"from":"running","to":"parked"}', principalChain: ["clock"] }),
  ];
  const stored = JSON.parse(logEntriesDocument.write(usual)) as string;
  expect(logEntriesDocument.read(stored)).toEqual(usual);
  expect(stored.length).toBeLessThan(80);
  // The stored form replaces frequent phrases by single characters. Values that contain these characters or such phrases must not change.
  const odd = [entry("a", { payload: '\u0001{"state":"' }), entry("step-finished\t", { stepId: "\u001f" })];
  expect(logEntriesDocument.read(JSON.parse(logEntriesDocument.write(odd)))).toEqual(odd);
  expect(logEntriesDocument.read("2job-status-changed\t\t{}\nstep-started\ts\t{}").map(({ type }) => type)).toEqual([
    "job-status-changed",
    "step-started",
  ]);
  const before = '[["a","s","{}"],["b","","{}",["key:x"]]]';
  expect(logEntriesDocument.read({ p: before })).toEqual([
    entry("a", { payload: "{}" }),
    entry("b", { stepId: "", payload: "{}", principalChain: ["key:x"] }),
  ]);
});

test("a job's own chain is that of its key, and any other is kept", async () => {
  const keyId = createId("key", nowMs);
  for (const principalChain of [[`key:${keyId}`], ["key:k"], [`key:${keyId}`, "clock"]]) {
    const stored = storedChain({ keyId, principalChain });
    expect(stored).toEqual(principalChain.length === 1 && principalChain[0] !== "key:k" ? [] : principalChain);
    expect(chainOfJob({ keyId, principalChain: stored })).toEqual(principalChain);
  }
});

test("a log contains the hash of the job's program, stored with the program, or with the entry by older versions", async () => {
  const submitted = (payload: object) => entry("job-submitted", { payload: JSON.stringify(payload) });
  for (const given of [
    { mode: "live", status: "queued" },
    { mode: "live", status: "queued", programHash: "before" },
  ]) {
    const log = await jobWith(submitted({ ...given, skillSlug: "skills.clean" }), entry("a"));
    const [first, second] = await log.list(0);
    expect(first?.payload).toBe(
      JSON.stringify({
        mode: "live",
        status: "queued",
        programHash: given.programHash ?? "h",
        skillSlug: "skills.clean",
      }),
    );
    expect(second?.payload).toBe(entry("a").payload);
  }
});

test("what the store searches a log for begins a row", () => {
  const rows = logRowsOf([entry("a"), entry("ask-delivery-changed"), entry("b"), entry("ask-delivery-changed")]);
  expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 4]);
});
