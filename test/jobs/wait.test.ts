import { createTestDatabase } from "@svc/testing/database";
import { endLeases } from "@svc/testing/leases";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { call, startServerProcess, vaultKey } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

// SubmitJob with `waitSeconds` over HTTP: its quota, its timeout, and the disconnection of its client or the shutdown of its node.

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
});
afterAll(() => server.stop());

const submitted = "svc.v1.JobsService/SubmitJob";
const nap = (seconds: number) =>
  JSON.stringify({ version: 1, title: "Nap", steps: [{ id: "nap", wait: `${seconds}s` }] });
const openStreams = async () => {
  const { json } = await server.admin("GetProjectUsage", { projectId: await defaultProject() });
  return json.quotas.find(({ name }: { name: string }) => name === "openStreams").used as number;
};
async function defaultProject(): Promise<string> {
  const { json } = await server.admin("ListProjects", {});
  return json.projects.find(({ name }: { name: string }) => name === "default").id;
}
const jobsCount = async () => (await server.call("svc.v1.JobsService/ListJobs", {})).json.jobs.length as number;

test("one request returns the end of a job", async () => {
  const { status, json } = await server.call(submitted, { programJson: nap(1), waitSeconds: 30 });
  expect([status, json.job.status]).toEqual([200, "JOB_STATUS_SUCCEEDED"]);
  expect(json.job.receipt.outcome).toBe("complete");
});

test("a call is answered before its own timeout, although its wait is longer", async () => {
  const headers = { "connect-timeout-ms": "4000" };
  const { status, json } = await server.call(submitted, { programJson: nap(20), waitSeconds: 30 }, { headers });
  expect([status, json.job.finishedAt]).toEqual([200, undefined]);
});

test("waits are bounded by the quota of open streams: one more is refused and stores nothing, and a caller that leaves makes room", async () => {
  const projectId = await defaultProject();
  await server.admin("SetProjectPolicy", { projectId, quotas: { openStreams: 1 } });
  const gone = new AbortController();
  const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
  const body = JSON.stringify({ programJson: nap(20), waitSeconds: 30 });
  const before = (await jobsCount()) + 1;
  const held = fetch(`${server.url}/${submitted}`, { method: "POST", headers, body, signal: gone.signal });
  held.catch(() => {});
  // A waiting call takes its place in the quota before its job is stored.
  await until(async () => (await openStreams()) === 1 && (await jobsCount()) === before);
  const refused = await server.call(submitted, { programJson: nap(1), waitSeconds: 1 });
  expect([refused.status, refused.reason]).toEqual([429, "QUOTA_OPEN_STREAMS"]);
  expect(await jobsCount()).toBe(before);
  // A submission that does not wait needs no place in the quota.
  expect((await server.call(submitted, { programJson: nap(1) })).status).toBe(200);
  gone.abort();
  await expect(held).rejects.toThrow();
  await until(async () => (await openStreams()) === 0);
  expect((await server.call(submitted, { programJson: nap(1), waitSeconds: 30 })).status).toBe(200);
  expect(await openStreams()).toBe(0);
});

test("a node that is told to stop answers its waits with the jobs as they are", async () => {
  const stopping = await startTestServer({ variables: { SVC_SANDBOX: "force", SVC_DRAIN: "60s" } });
  const waiting = stopping.call(submitted, { programJson: nap(20), waitSeconds: 30 });
  await until(async () => (await stopping.call("svc.v1.JobsService/ListJobs", {})).json.jobs.length === 1);
  await stopping.stop();
  const { status, json } = await waiting;
  expect([status, json.job.finishedAt]).toEqual([200, undefined]);
});

test("after kill -9 of the node that waits and drives, the same submission waits for the same job at the next node", async () => {
  const database = await createTestDatabase();
  const env = { SVC_DATABASE_URL: database.url, SVC_VAULT_KEY: vaultKey(), SVC_SANDBOX: "force" };
  const submission = { programJson: nap(2), idempotencyKey: "once", waitSeconds: 30 };
  type Answer = { readonly job: { readonly id: string; readonly status: string } };
  const first = await startServerProcess(env);
  const lost = call(first, "JobsService/SubmitJob", submission);
  lost.catch(() => {});
  type List = { readonly jobs: readonly { readonly id: string }[] };
  const list = () => call<List>(first, "JobsService/ListJobs", {});
  await until(async () => (await list()).jobs.length === 1);
  const [{ id } = { id: "" }] = (await list()).jobs;
  await first.end("SIGKILL");
  await expect(lost).rejects.toThrow();
  await endLeases(database.url, "job_tasks");
  const second = await startServerProcess(env);
  const { job } = await call<Answer>(second, "JobsService/SubmitJob", submission);
  expect([job.id, job.status]).toEqual([id, "JOB_STATUS_SUCCEEDED"]);
  await second.end("SIGTERM");
  await database.drop();
}, 120_000);
