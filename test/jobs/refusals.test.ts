import { faultyPrograms } from "@svc/testing/faulty-programs";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { consent, openBrowser } from "../tools/browser.ts";
import { addProject, connect, type TestProject } from "../tools/project.ts";
import {
  askPoint,
  connectOps,
  contacts,
  hasEnded,
  isAsked,
  jobs,
  judge,
  type Program,
  putContact,
  reach,
  readJob,
  sendMessage,
  submit,
  trySubmit,
} from "./project.ts";

// Refusals of SubmitJob and of the other calls about jobs, over HTTP.

let server: TestServer;
let other: TestProject;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  other = await addProject(server, "other");
  await connectOps(server);
  await connect(server, "bank_link", { entityId: "ops" });
  const browser = openBrowser();
  const { authorizeUrl } = await connect(server, "calendar", { entityId: "ops", scheme: "oauth2" });
  expect((await browser.open(await consent(browser, authorizeUrl, "allow"))).status).toBe(200);
  await connectOps(server, other.member);
  for (const principalId of ["lead", "head"]) await putContact(server, principalId);
});
afterAll(() => server?.stop());

type Detail = { debug: { reason: string; field: string; help: string } };

/** Returns the value at a JSON Pointer in a document, or undefined if there is none. */
function at(document: unknown, pointer: string): unknown {
  const steps = pointer.split("/").slice(1);
  return steps.reduce<unknown>((value, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return (value as Record<string, unknown> | undefined)?.[name];
  }, document);
}

const countJobs = async () => (await server.database.db.sql`select count(*)::int as n from jobs`)[0]?.["n"] as number;

test("the table of faulty programs has at least 40", () => {
  expect(faultyPrograms.length).toBeGreaterThanOrEqual(40);
});

test.each(faultyPrograms)(
  "$name: every fault is told at once, with a place that exists",
  async ({ program, faults }) => {
    const before = await countJobs();
    const refused = await trySubmit(server, JSON.stringify(program), { idempotencyKey: "of-a-faulty-one" });
    expect(refused.code).toBe("invalid_argument");
    const details = (refused.json.details as Detail[]).map(({ debug }) => debug);
    expect(details.map(({ reason, field }) => `${reason} ${field}`)).toEqual(
      faults.map((fault) => {
        // The text is split at its first space, because a pointer may contain spaces and a code does not.
        const at = fault.indexOf(" ");
        return `PROGRAM_${fault.slice(0, at)} programJson${fault.slice(at + 1)}`;
      }),
    );
    for (const { field, help } of details) {
      expect(field.startsWith("programJson")).toBe(true);
      expect(at(program, field.slice("programJson".length)), field).toBeDefined();
      expect(help).not.toBe("");
    }
    expect(await countJobs()).toBe(before);
  },
);

test("a faulty program of many faults is answered with at most 100 details, which are counted in words", async () => {
  const result = Object.fromEntries(
    Array.from({ length: 700 }, (_, index) => [`r${index}`, { $ref: "steps.none.id" }]),
  );
  const refused = await trySubmit(server, { ...pause, result });
  expect(refused.json.details.length).toBe(100);
  expect(refused.json.message).toContain("700 problems");
});

const pause: Program = { steps: [{ id: "pause", wait: "1s" }] };
const padded = (program: Program, bytes: number) =>
  JSON.stringify({ version: 1, title: "Padded", ...program }).padEnd(bytes);

test.each([
  ["256 KiB and one byte", () => padded(pause, 262_145), "PROGRAM_TOO_LARGE programJson"],
  ["a megabyte", () => padded(pause, 1_000_000), "PROGRAM_TOO_LARGE programJson"],
  [
    "101 steps",
    () =>
      JSON.stringify({
        version: 1,
        title: "x",
        steps: Array.from({ length: 101 }, (_, i) => ({ id: `s${i}`, wait: "1s" })),
      }),
    "PROGRAM_TOO_LARGE programJson/steps",
  ],
  ["nothing", () => "", "PROGRAM_MALFORMED programJson"],
  ["half a program", () => '{"version":1', "PROGRAM_MALFORMED programJson"],
  ["a list", () => "[]", "PROGRAM_MALFORMED programJson"],
  [
    "deep nesting",
    () => `{"version":1,"title":"x","steps":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    "PROGRAM_MALFORMED programJson",
  ],
])("%s is refused within a second", async (_name, text, expected) => {
  const started = performance.now();
  const refused = await trySubmit(server, text());
  expect(`${refused.reason} ${refused.field}`).toBe(expected);
  expect(performance.now() - started).toBeLessThan(1_000);
});

test("a program of exactly 256 KiB is accepted and answered as it was submitted", async () => {
  const programJson = padded(pause, 262_144);
  const accepted = await trySubmit(server, programJson);
  expect(accepted.code).toBe("ok");
  expect(accepted.json.job.programJson).toBe(programJson);
});

test.each([
  ["invalid_argument MODE_INVALID mode", { mode: "dry" }],
  ["invalid_argument MODE_INVALID mode", { mode: "Live" }],
  ["invalid_argument MODE_CONFLICT simulateFirst", { mode: "simulate", simulateFirst: true }],
  ["invalid_argument IDEMPOTENCY_KEY_INVALID idempotencyKey", { idempotencyKey: "k".repeat(256) }],
])("%s: %j", async (expected, request) => {
  const before = await countJobs();
  const refused = await trySubmit(server, pause, request);
  expect(`${refused.code} ${refused.reason} ${refused.field}`).toBe(expected);
  expect(await countJobs()).toBe(before);
});

test("an idempotency key of 255 characters is taken, one with U+0000 does not break the store", async () => {
  expect((await trySubmit(server, pause, { idempotencyKey: "k".repeat(255) })).code).toBe("ok");
  const odd = await trySubmit(server, pause, { idempotencyKey: "a\u0000b" });
  expect(["ok", "invalid_argument"]).toContain(odd.code);
});

describe("an idempotency key", () => {
  test("answers the same job for the same program, however it is written, whatever became of it", async () => {
    const id = await submit(server, pause, { idempotencyKey: "same" });
    const other = JSON.stringify({ title: "A job of the tests", steps: pause.steps, version: 1 }, null, 2);
    for (const mode of ["", "live"]) {
      const { json } = await trySubmit(server, other, { idempotencyKey: "same", mode });
      expect(json.job.id).toBe(id);
    }
    await server.call(jobs("CancelJob"), { id });
    await reach(server, id, hasEnded);
    const again = await trySubmit(server, pause, { idempotencyKey: "same" });
    expect([again.json.job.id, again.json.job.status]).toEqual([id, "JOB_STATUS_CANCELLED"]);
  });

  test.each([
    ["another mode", pause, { mode: "simulate" }],
    ["simulateFirst", pause, { simulateFirst: true }],
    ["another program", { ...pause, title: "Another" }, {}],
    ["a faulty program", { steps: [] }, {}],
    ["no program at all", "{", {}],
  ] as const)("is refused with %s", async (_name, program, request) => {
    await submit(server, pause, { idempotencyKey: "taken" });
    const refused = await trySubmit(server, program, { ...request, idempotencyKey: "taken" });
    expect([refused.code, refused.reason]).toEqual(["already_exists", "IDEMPOTENCY_KEY_REUSED"]);
  });

  test("submits once, however many submit with it at a time", async () => {
    const before = await countJobs();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => trySubmit(server, pause, { idempotencyKey: "at-once" })),
    );
    expect(new Set(answers.map(({ json }) => json.job?.id)).size).toBe(1);
    expect(await countJobs()).toBe(before + 1);
  });

  test("of submissions at a time that differ lets one pass, and refuses the rest", async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        trySubmit(server, { ...pause, title: `Race ${index}` }, { idempotencyKey: "race" }),
      ),
    );
    const codes = answers.map(({ code, reason }) => `${code} ${reason}`.trim()).sort();
    expect(codes).toEqual([...Array(9).fill("already_exists IDEMPOTENCY_KEY_REUSED"), "ok"]);
  });
});

const destructive: Program = {
  steps: [
    sendMessage({ call: "messaging_bot.delete_message", args: { chat_id: "@team", message_id: 1, confirm: true } }),
  ],
};

describe("a plan that needs approval", () => {
  test("is refused to a key that may not approve, in whatever way it comes to need one", async () => {
    const bearer = other.member;
    for (const program of [destructive, { ...pause, approval: { plan: "always" } }]) {
      const refused = await trySubmit(server, program, {}, { bearer });
      expect([refused.code, refused.reason]).toEqual(["permission_denied", "APPROVER_ROLE_REQUIRED"]);
    }
    const policy = { projectId: other.id, planApproval: "always" };
    expect((await server.admin("SetProjectPolicy", policy)).code).toBe("ok");
    const refused = await trySubmit(server, { ...pause, approval: { plan: "never" } }, {}, { bearer });
    expect(refused.reason).toBe("APPROVER_ROLE_REQUIRED");
    expect((await trySubmit(server, destructive, { mode: "simulate" }, { bearer })).code).toBe("ok");
    await server.admin("SetProjectPolicy", { projectId: other.id, planApproval: "never" });
  });

  test("is refused when nobody it would be asked of is an approver", async () => {
    const refused = await trySubmit(server, {
      ...destructive,
      approval: { escalation: [{ principal: "lead" }] },
    });
    expect([refused.code, refused.reason]).toEqual(["failed_precondition", "APPROVER_MISSING"]);
  });

  test("parks before its first step, and sends nothing until it is approved", async () => {
    const id = await submit(server, destructive);
    const job = await readJob(server, id);
    expect([job.status, job.park.reason, job.stepReceipts]).toEqual([
      "JOB_STATUS_PENDING_PLAN_APPROVAL",
      "approval",
      [],
    ]);
    const calls = await server.call("svc.v1.ToolsService/ListToolCalls", {});
    expect(calls.json.calls.filter(({ jobId }: { jobId: string }) => jobId === id)).toEqual([]);
    await server.call(jobs("CancelJob"), { id });
    expect((await reach(server, id, hasEnded)).status).toBe("JOB_STATUS_CANCELLED");
  });
});

describe("CancelJob", () => {
  test("ends a waiting job, withdraws its question, and may be repeated", async () => {
    const id = await submit(server, { steps: [judge], points: { ask: askPoint() } });
    const { requestId } = (await reach(server, id, isAsked)).park.judgment;
    expect((await server.call(jobs("CancelJob"), { id })).code).toBe("ok");
    const job = await reach(server, id, hasEnded);
    expect([job.status, job.receipt.asks.withdrawn]).toEqual(["JOB_STATUS_CANCELLED", 1]);
    const again = await server.call(jobs("CancelJob"), { id });
    expect([again.code, again.json.job.receipt.receiptHash]).toEqual(["ok", job.receipt.receiptHash]);
    const ask = await server.call(jobs("GetAsk"), { jobId: id, requestId });
    expect(ask.json.ask.state).toBe("ASK_STATE_WITHDRAWN");
  });

  test("is refused once the job has ended otherwise", async () => {
    const id = await submit(server, { steps: [sendMessage()] });
    await reach(server, id, hasEnded);
    const refused = await server.call(jobs("CancelJob"), { id });
    expect([refused.code, refused.reason]).toEqual(["failed_precondition", "JOB_FINISHED"]);
  });
});

describe("ListJobs", () => {
  const ids = async (body: object) => {
    const { json } = await server.call(jobs("ListJobs"), body);
    return (json.jobs as { id: string }[]).map(({ id }) => id);
  };

  test("filters by mode, and lists twins under simulate only", async () => {
    const plain = await submit(server, pause, { mode: "simulate" });
    const first = await submit(server, pause, { simulateFirst: true });
    const { json } = await server.call(jobs("GetJob"), { id: first });
    const twin = json.simulation.id;
    expect(json.simulation.simulatedFrom).toBe(first);
    const all = await ids({ pageSize: 500 });
    expect([plain, first, twin].map((id) => all.includes(id))).toEqual([true, true, false]);
    const simulated = await ids({ mode: "simulate", pageSize: 500 });
    expect([plain, first, twin].map((id) => simulated.includes(id))).toEqual([true, false, true]);
    const live = await ids({ mode: "live", pageSize: 500 });
    expect([plain, first, twin].map((id) => live.includes(id))).toEqual([false, true, false]);
  });

  test("of a status lists those jobs alone", async () => {
    const { json } = await server.call(jobs("ListJobs"), { status: "JOB_STATUS_CANCELLED", pageSize: 500 });
    expect(json.jobs.length).toBeGreaterThan(1);
    expect(new Set(json.jobs.map(({ status }: { status: string }) => status))).toEqual(
      new Set(["JOB_STATUS_CANCELLED"]),
    );
  });
});

describe("a contact", () => {
  const reachBy = (toolSlug: string, args: object = {}) => ({
    contact: {
      principalId: "reached",
      name: "Reached",
      reach: { toolSlug, entityId: "ops", argsJson: JSON.stringify(args) },
    },
  });

  test.each([
    ["messaging_bot.delete_message", { chat_id: "@team", message_id: 1, confirm: true }, "REACH_TOOL_UNSUITABLE"],
    ["sales_crm.delete_deal", { deal_id: 1, confirm: true }, "REACH_TOOL_UNSUITABLE"],
    ["calendar.events_changed", {}, "REACH_TOOL_UNSUITABLE"],
    ["messaging_bot.nope", {}, "TOOL_NOT_FOUND"],
    ["messaging_bot.send_message", { chat_id: "@team" }, "REACH_ARGS_INVALID"],
    ["messaging_bot.send_message", { chat_id: "@team", text: "{secret}" }, "REACH_ARGS_INVALID"],
  ])("reached by %s %j is refused as %s", async (toolSlug, args, reason) => {
    const refused = await server.call(contacts("PutContact"), reachBy(toolSlug, args));
    expect(refused.reason).toBe(reason);
  });

  test("that is the last approver can be neither deleted nor demoted", async () => {
    for (const [method, body] of [
      ["DeleteContact", { principalId: "owner" }],
      ["PutContact", { contact: { principalId: "owner", name: "Owner", approver: false } }],
    ] as const) {
      const refused = await server.call(contacts(method), body);
      expect([refused.code, refused.reason]).toEqual(["failed_precondition", "LAST_APPROVER"]);
    }
  });

  test("of two approvers dropped at once, one stays", async () => {
    const bearer = other.approver;
    await putContact(server, "second", { approver: true, bearer });
    const dropped = await Promise.all(
      ["owner", "second"].map((principalId) => server.call(contacts("DeleteContact"), { principalId }, { bearer })),
    );
    expect(dropped.map(({ code }) => code).sort()).toEqual(["failed_precondition", "ok"]);
  });
});

describe("an ask endpoint of a service that is not on loopback", () => {
  test.each([
    "http://example.com/asks",
    "https://10.0.0.1/asks",
    "https://192.168.1.1/asks",
    "https://169.254.169.254/latest/meta-data",
    "https://[fd00::1]/asks",
    "https://[::ffff:10.0.0.1]/asks",
    "https://0x0a000001/asks",
    "https://user:pass@example.com/asks",
    "ftp://example.com/",
    "nope",
  ])("at %s is refused", async (endpointUrl) => {
    const refused = await server.call(jobs("CreateAskEndpoint"), { endpointUrl });
    expect(refused.code).toBe("invalid_argument");
    expect(refused.reason).toMatch(/^ENDPOINT_/);
  });
});
