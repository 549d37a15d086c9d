import { createSvcClient } from "@svc/sdk";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/server-process";
import { type Subscriber, startSubscriber } from "@svc/testing/subscriber";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  answer,
  askPoint,
  connectOps,
  hasEnded,
  isAsked,
  jobs,
  judge,
  type Program,
  putContact,
  reach,
  readJob,
  readLog,
  sendMessage,
  submit,
} from "./project.ts";

// Checks who may settle a question, in which order an answer is checked, and that exactly one answer counts, with two nodes on one
// database.

let server: TestServer;
let second: TestServer;
let receiver: Subscriber;
/** Keys of project `default`: that of another approver, and that of a member. */
let otherKey: string;
let memberKey: string;

beforeAll(async () => {
  const variables = { SVC_SANDBOX: "force" };
  server = await startTestServer({ variables });
  second = await startTestServer({ variables: { ...variables, SVC_DATABASE_URL: server.database.url } });
  receiver = await startSubscriber();
  await connectOps(server);
  await putContact(server, "lead");
  await putContact(server, "deputy", { approver: true });
  const { json } = await server.admin("ListProjects", {});
  const projectId = json.projects.find(({ name }: { name: string }) => name === "default").id;
  const keyOf = async (role: string) =>
    (await server.admin("CreateApiKey", { projectId, role, name: role })).json.key as string;
  [otherKey, memberKey] = [await keyOf("ROLE_APPROVER"), await keyOf("ROLE_MEMBER")];
  expect((await server.call(jobs("CreateAskEndpoint"), { endpointUrl: receiver.url })).code).toBe("ok");
});
afterAll(async () => {
  await second?.server.stop();
  await server?.stop();
  await second?.database.drop();
  await receiver?.close();
});

const point = {
  ...askPoint({ continuations: ["proceed", "retry-with", "abort"] }),
  overrides: { target: "params", rerunFrom: "pause" },
  answerSchema: { type: "object", additionalProperties: false, properties: { least: { type: "number" } } },
};
const asking: Program = {
  params: { least: 1 },
  steps: [{ id: "pause", wait: "1s" }, judge],
  points: { ask: point },
};
/** A program whose first step asks. */
const plain: Program = { steps: [judge], points: { ask: askPoint() } };
const gated: Program = {
  steps: [{ id: "judge", judge: "gate" }, sendMessage()],
  points: { gate: { question: "Send it?", approval: true } },
};

async function askedJob(
  program: Program,
  options: Record<string, unknown> = {},
): Promise<{ id: string; requestId: string }> {
  const id = await submit(server, program, options);
  const job = await reach(server, id, isAsked);
  return { id, requestId: job.park.judgment.requestId };
}

const withoutLog = ({ updatedAt: _updatedAt, ...job }: Record<string, unknown>) => job;

test("each refusal, in the order of the contract, is logged and moves nothing", async () => {
  const { id, requestId } = await askedJob(asking);
  const settled = await askedJob(plain);
  expect((await answer(server, settled.id)).code).toBe("ok");
  const wrong = {
    principalId: "nobody",
    continuation: "skip",
    overridesJson: "{",
    note: "n".repeat(2_001),
  };
  const overrides = { continuation: "retry-with", overridesJson: '{"least": "many"}' };
  const steps: [object, string, string][] = [
    [{ ...wrong, requestId: "ask_01h455vb4pex5vsknk084sn02q" }, "failed_precondition", "ASK_STALE"],
    [{ ...wrong, requestId: settled.requestId }, "failed_precondition", "ASK_STALE"],
    [{ ...wrong, requestId: "nonsense" }, "failed_precondition", "ASK_STALE"],
    [{ ...wrong, requestId }, "permission_denied", "PRINCIPAL_NOT_REACHED"],
    [wrong, "permission_denied", "PRINCIPAL_NOT_REACHED"],
    [{ ...wrong, principalId: "lead" }, "permission_denied", "PRINCIPAL_NOT_REACHED"],
    [{ ...wrong, principalId: "" }, "permission_denied", "PRINCIPAL_NOT_REACHED"],
    [{ ...wrong, principalId: "owner" }, "invalid_argument", "CONTINUATION_NOT_DECLARED"],
    [{ ...wrong, principalId: "owner", continuation: "" }, "invalid_argument", "CONTINUATION_NOT_DECLARED"],
    [{ ...wrong, principalId: "owner", continuation: "proceed" }, "invalid_argument", "OVERRIDES_INVALID"],
    [{ ...wrong, principalId: "owner", ...overrides }, "invalid_argument", "OVERRIDES_INVALID"],
    [
      { continuation: "retry-with", overridesJson: '{"least":1,"least":2,"x":1}' },
      "invalid_argument",
      "OVERRIDES_INVALID",
    ],
    [
      { continuation: "retry-with", overridesJson: '{"__proto__":{"least":1}}' },
      "invalid_argument",
      "OVERRIDES_INVALID",
    ],
    [{ continuation: "abort", overridesJson: '{"least":1}' }, "invalid_argument", "OVERRIDES_INVALID"],
    [{ note: wrong.note }, "invalid_argument", "NOTE_TOO_LONG"],
  ];
  const before = await readJob(server, id);
  for (const [request, code, reason] of steps) {
    const logged = (await readLog(server, id)).length;
    const refused = await answer(server, id, request);
    expect([refused.code, refused.reason], JSON.stringify(request).slice(0, 200)).toEqual([code, reason]);
    // The log may get the entry about the question's delivery at any time.
    const added = (await readLog(server, id)).slice(logged).filter(({ type }) => type !== "ask-delivery-changed");
    expect(added.map(({ type }) => type)).toEqual(["answer-refused"]);
    expect(JSON.parse(added[0]?.payloadJson ?? "").reason).toBe(reason);
  }
  const { pendingAsk, ...after } = withoutLog(await readJob(server, id));
  expect({ pendingAsk, ...after }).toEqual(withoutLog(before));
  expect((await answer(server, id, { requestId })).code).toBe("ok");
  const job = await reach(server, id, hasEnded);
  expect(job.receipt.asks).toMatchObject({ raised: 1, answered: 1, refusedAnswers: steps.length });
});

test("of an approval, role, key and contact are checked in that order", async () => {
  await putContact(server, "owner-too", { approver: true });
  const { id } = await askedJob(gated);
  await putContact(server, "owner-too", { approver: false });
  for (const [request, bearer, reason] of [
    [{ principalId: "lead" }, memberKey, "PRINCIPAL_NOT_REACHED"],
    [{ principalId: "owner-too", continuation: "retry-with" }, memberKey, "CONTINUATION_NOT_DECLARED"],
    [{ principalId: "owner-too" }, memberKey, "APPROVER_ROLE_REQUIRED"],
    [{ principalId: "owner-too" }, otherKey, "APPROVAL_KEY_MISMATCH"],
    [{ principalId: "owner-too" }, server.key, "PRINCIPAL_NOT_APPROVER"],
  ] as const) {
    const refused = await answer(server, id, request, { bearer });
    expect([reason, refused.reason]).toEqual([reason, reason]);
  }
  const refusals = (await readLog(server, id)).filter(({ type }) => type === "answer-refused");
  expect(refusals.length).toBe(5);
  expect((await answer(server, id)).code).toBe("ok");
  const job = await reach(server, id, hasEnded);
  expect(job.receipt.approvals).toMatchObject([{ stepId: "judge", decision: { principalId: "owner" } }]);
});

test("50 answers at once over two nodes settle a question once, and the rest are told so", async () => {
  for (let round = 0; round < 4; round++) {
    const { id, requestId } = await askedJob(plain);
    const nodes = [server, second];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const continuation = ["proceed", "abort"][index % 2] as string;
        const named = index % 4 < 2 ? { requestId } : {};
        return answer(nodes[(index >> 2) % 2] as TestServer, id, { continuation, note: `n${index}`, ...named });
      }),
    );
    const won = answers.flatMap(({ code }, index) => (code === "ok" ? [index] : []));
    expect(won.length).toBe(1);
    const reasons = new Set(answers.filter(({ code }) => code !== "ok").map(({ reason }) => reason));
    expect([...reasons]).toEqual(["ASK_SETTLED"]);
    const job = await reach(server, id, hasEnded);
    const { json } = await server.call(jobs("GetAsk"), { jobId: id, requestId });
    expect(json.ask.decision.note).toBe(`n${won[0]}`);
    expect(job.status).toBe(won[0] === undefined || won[0] % 2 === 0 ? "JOB_STATUS_SUCCEEDED" : "JOB_STATUS_ABORTED");
    const log = await readLog(server, id);
    expect(log.filter(({ type }) => type === "ask-settled").length).toBe(1);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  }
});

test("an answer, a cancellation and the clock at once: one of them wins, and the receipt says which", async () => {
  const clocked: Program = {
    steps: [judge],
    points: {
      ask: askPoint({ escalation: [{ principal: "owner", timeout: "1m" }], default: { continuation: "abort" } }),
    },
  };
  const { sql } = server.database.db;
  const ends: string[] = [];
  for (let round = 0; round < 4; round++) {
    const { id } = await askedJob(clocked);
    const [answered, cancelled] = await Promise.all([
      answer(server, id),
      second.call(jobs("CancelJob"), { id }),
      sql`update job_asks set deadline_at = now() where job_id = (select job_id from job_tasks where kind = 'hop' limit 1)`,
      sql`update job_tasks set due_at = now() where kind = 'hop'`,
    ]);
    const job = await reach(server, id, hasEnded);
    const { asks } = job.receipt;
    expect(asks.answered + asks.defaulted + asks.withdrawn, JSON.stringify(job.receipt)).toBe(1);
    expect(asks.answered).toBe(answered.code === "ok" ? 1 : 0);
    if (cancelled.code !== "ok") expect(cancelled.reason).toBe("JOB_FINISHED");
    ends.push(job.status);
    expect(
      (await sql`select count(*)::int as n from job_asks where state = 'pending' and question = 'Go on?'`)[0],
    ).toEqual({
      n: 0,
    });
  }
  expect(ends.length).toBe(4);
});

test("after the end nothing is answered, and trying is logged without touching the receipt", async () => {
  const { id, requestId } = await askedJob(plain);
  expect((await answer(server, id, { continuation: "abort" })).code).toBe("ok");
  const ended = await reach(server, id, hasEnded);
  for (const request of [{}, { requestId }]) {
    const refused = await answer(second, id, request);
    expect([refused.code, refused.reason]).toEqual(["failed_precondition", "ASK_SETTLED"]);
  }
  const withdrawn = await askedJob(plain);
  await server.call(jobs("CancelJob"), { id: withdrawn.id });
  await reach(server, withdrawn.id, hasEnded);
  expect((await answer(server, withdrawn.id, { requestId: withdrawn.requestId })).reason).toBe("ASK_STALE");
  const job = await readJob(server, id);
  expect(job.receipt).toEqual(ended.receipt);
  const log = await readLog(server, id);
  expect(log.length).toBe(ended.receipt.lastSeq + 2);
  expect(log.slice(-2).map(({ type }) => type)).toEqual(["answer-refused", "answer-refused"]);
});

test("a job that never asked is not answered either", async () => {
  const id = await submit(server, { steps: [{ id: "pause", wait: "1m" }] });
  for (const [requestId, reason] of [
    ["", "ASK_SETTLED"],
    ["ask_01h455vb4pex5vsknk084sn02q", "ASK_STALE"],
  ]) {
    expect((await answer(server, id, { requestId })).reason).toBe(reason);
  }
  await server.call(jobs("CancelJob"), { id });
});

test("150 wrong answers leave 100 entries, and all of them in the count", async () => {
  const { id } = await askedJob(plain);
  for (let batch = 0; batch < 3; batch++) {
    const node = batch % 2 ? second : server;
    // Reading first makes the node know the key. While a node has to look up a key, it refuses several large bodies if the store is slow.
    await readJob(node, id);
    const refused = await Promise.all(
      Array.from({ length: 50 }, () => answer(node, id, { principalId: "x".repeat(100_000) })),
    );
    expect(new Set(refused.map(({ reason }) => reason))).toEqual(new Set(["PRINCIPAL_NOT_REACHED"]));
  }
  const log = await readLog(server, id);
  expect(log.filter(({ type }) => type === "answer-refused").length).toBe(100);
  expect(log.every(({ payloadJson }) => Buffer.byteLength(payloadJson) <= 4_096)).toBe(true);
  await answer(server, id);
  const { receipt } = await reach(server, id, hasEnded);
  expect(receipt.asks.refusedAnswers).toBe(150);
});

test("hostile texts in an answer are kept or refused, and break nothing", async () => {
  const { id } = await askedJob(plain);
  for (const text of ["'; drop table jobs; --", "__proto__", "\ud800".toWellFormed(), "{question}", "<script>"]) {
    const refused = await answer(server, id, { principalId: text, continuation: text });
    expect(refused.reason).toBe("PRINCIPAL_NOT_REACHED");
  }
  // JSON that the server cannot store is refused before a method is called, or stored without the faulty text.
  for (const field of ["principalId", "continuation", "requestId", "note", "deliveryId", "overridesJson"]) {
    const { status, code } = await answer(server, id, { principalId: "nobody", [field]: "a\u0000b" });
    expect([400, 403], `${field}: ${code}`).toContain(status);
  }
  const answered = await answer(server, id, { note: "{{}} <b> '; --", deliveryId: "' or 1=1" });
  expect(answered.code).toBe("ok");
  expect((await reach(server, id, hasEnded)).status).toBe("JOB_STATUS_SUCCEEDED");
});

test("an answer that names the delivery it came back on has that surface; a foreign one proves nothing", async () => {
  const seen = receiver.received.length;
  const { id } = await askedJob(plain);
  await until(() => receiver.received.slice(seen).some(({ body }) => body.includes(id)), 8_000, "the publication");
  const { deliveryId } = receiver.received.slice(seen).find(({ body }) => body.includes(id)) as { deliveryId: string };
  const other = await askedJob(plain);
  await answer(server, other.id, { deliveryId });
  await answer(server, id, { deliveryId });
  const surfaceOf = async (jobId: string) =>
    (await server.call(jobs("ListAsks"), { jobId })).json.asks[0].decision.surface;
  expect(await surfaceOf(id)).toBe(deliveryId);
  expect(await surfaceOf(other.id)).toBe("api");
});

test("a watch on another node sees the log grow to its end, and only the part it asked for", async () => {
  const { id } = await askedJob(plain);
  const client = createSvcClient({ baseUrl: second.url, apiKey: second.key });
  const watch = async (afterSeq: number) => {
    const seqs: number[] = [];
    for await (const { event } of client.jobs.watchJob({ jobId: id, afterSeq })) seqs.push(event?.seq ?? 0);
    return seqs;
  };
  const watching = [watch(0), watch(2)];
  await answer(server, id);
  const { receipt } = await reach(server, id, hasEnded);
  const all = Array.from({ length: receipt.lastSeq }, (_, index) => index + 1);
  expect(await Promise.all(watching)).toEqual([all, all.slice(2)]);
  expect(await watch(receipt.lastSeq)).toEqual([]);
  expect(await watch(4_294_967_295)).toEqual([]);
});

test("ListAsks filters by state, contact and job, and pages each ask once", async () => {
  const list = async (body: object) => (await server.call(jobs("ListAsks"), { pageSize: 500, ...body })).json.asks;
  const all = await list({});
  expect(all.length).toBeGreaterThan(10);
  const pending = await list({ state: "ASK_STATE_PENDING" });
  expect(pending.every(({ state }: { state: string }) => state === "ASK_STATE_PENDING")).toBe(true);
  expect(
    (await list({ principalId: "deputy" })).every((ask: { principalId: string }) => ask.principalId === "deputy"),
  ).toBe(true);
  const paged: string[] = [];
  let pageToken = "";
  do {
    const { json } = await server.call(jobs("ListAsks"), { pageSize: 3, pageToken });
    paged.push(...json.asks.map(({ requestId }: { requestId: string }) => requestId));
    pageToken = json.nextPageToken;
  } while (pageToken !== "");
  expect(paged).toEqual(all.map(({ requestId }: { requestId: string }) => requestId));
});
