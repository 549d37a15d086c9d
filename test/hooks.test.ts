import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

// A project's hooks are asked before and after each call, in order. Nothing is sent without their answer.

let svc: TestServer;
const json = JSON.stringify;
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever is asked
type Asked = any;
type Answer = object | { readonly status: number; readonly body: string | Buffer; readonly type?: string } | "never";

const latin = Buffer.from('{"decision":"edit","arguments":{"title":"caf\xe9"}}', "latin1");

/** The questions that the test's own hook received, and the answers that it gives. */
let asked: { readonly question: Asked; readonly headers: IncomingMessage["headers"]; readonly text: string }[] = [];
let answers: Record<string, (question: Asked) => Answer> = {};
const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on("data", (chunk: Buffer) => chunks.push(chunk));
  req.on("end", () => {
    const text = Buffer.concat(chunks).toString();
    const question = JSON.parse(text);
    asked.push({ question, headers: req.headers, text });
    const answer = answers[req.url ?? ""]?.(question) ?? { decision: "allow" };
    if (answer === "never") return;
    // A hook may send interim responses before its answer.
    res.writeContinue();
    res.writeEarlyHints({ link: "</a>" });
    if ("status" in answer) res.writeHead(answer.status, { "content-type": answer.type ?? "" }).end(answer.body);
    else res.writeHead(200).end(json(answer));
  });
});
let base = "";

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  await made("ConnectionsService/InitiateConnection", { toolkitSlug: "sales_crm", entityId: "ada" });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await svc?.stop();
});
beforeEach(() => {
  asked = [];
  answers = {};
});
afterEach(async () => {
  for (const { id } of (await made("ToolsService/ListHooks", {})).hooks) await made("ToolsService/DeleteHook", { id });
});

async function made(method: string, body: object, bearer: string = svc.key): Promise<Asked> {
  const answer = await svc.call(`svc.v1.${method}`, body, { bearer });
  if (answer.status !== 200) throw new Error(`${method}: ${json(answer.json)}`);
  return answer.json;
}

const hook = (phase: string, path: string, more: object = {}) =>
  made("ToolsService/CreateHook", { phase, endpointUrl: `${base}${path}`, ...more });
const create = (title: string, more: object = {}) =>
  made("ToolsService/CallTool", {
    ...{ toolSlug: "sales_crm.create_deal", entityId: "ada", argumentsJson: json({ title }) },
    ...more,
  });
const list = () => made("ToolsService/CallTool", { toolSlug: "sales_crm.list_deals", entityId: "ada" });
const ledgerOf = async (id: string) => (await made("ToolsService/GetToolCall", { id })).call;

describe("before a call is sent", () => {
  test("a hook sees the call and nothing beside it, signed as Standard Webhooks has it, and the ledger says what it said", async () => {
    const { hook: made, signingSecret } = await hook("before", "/a");
    const call = await create("One");
    expect(call.outcome).toBe("ok");
    const [one] = asked;
    expect(Object.keys(one?.question).toSorted()).toEqual(
      ["type", "callId", "toolSlug", "accessClass", "entityId", "keyId", "jobId", "dryRun", "arguments"].toSorted(),
    );
    expect(one?.question).toMatchObject({ type: "call.before", callId: call.callId, arguments: { title: "One" } });
    const headers = one?.headers as Record<string, string>;
    expect(new Webhook(signingSecret).verify(one?.text ?? "", headers)).toEqual(one?.question);
    expect(() => new Webhook(signingSecret).verify(`${one?.text} `, headers)).toThrow("signature");
    expect((await ledgerOf(call.callId)).hooks).toMatchObject([{ hookId: made.id, decision: "allow" }]);
  });

  test("hooks are asked in order, each about what the one before left, and what they leave is sent and in the ledger", async () => {
    await hook("before", "/second", { position: 2 });
    await hook("before", "/first", { position: 1 });
    answers["/first"] = () => ({ decision: "edit", arguments: { title: "First", currency: "EUR", confirm: true } });
    answers["/second"] = () => ({ decision: "edit", arguments: { currency: null, value: 7 } });
    const { callId, resultJson } = await create("Asked");
    expect(asked.map(({ question }) => question.arguments)).toEqual([
      { title: "Asked" },
      { title: "First", currency: "EUR" },
    ]);
    expect(JSON.parse((await ledgerOf(callId)).argumentsJson)).toEqual({ title: "First", value: 7 });
    expect(resultJson).toContain("First");
  });

  test.each([
    ["refuses", { decision: "refuse", reason: "not on a Friday" }, "not_callable", "refused it: not on a Friday"],
    ["answers with an error", { status: 500, body: "{}" }, "unreachable", "status 500"],
    ["leads elsewhere", { status: 302, body: "" }, "unreachable", "status 302"],
    ["answers no JSON", { status: 200, body: "yes" }, "unreachable", "not JSON"],
    ["answers bytes that are not UTF-8", { status: 200, body: latin }, "unreachable", "not text of the charset UTF-8"],
    ["decides nothing", { decision: "perhaps" }, "unreachable", "not allow, edit or refuse"],
    ["changes nothing that is there", { decision: "edit" }, "unreachable", "without an object"],
    ["answers without end", { status: 200, body: `"${"x".repeat(1_100_000)}"` }, "unreachable", "more than"],
    [
      "makes what the tool does not take",
      { decision: "edit", arguments: { title: 7 } },
      "not_callable",
      "the tool refuses",
    ],
  ])("a hook that %s has nothing sent", async (_what, answer, outcome, message) => {
    await hook("before", "/a");
    answers["/a"] = () => answer;
    const call = await create("Never");
    expect(call).toMatchObject({ outcome, message: expect.stringContaining(message) });
    answers = {};
    expect((await list()).resultJson).not.toContain("Never");
  });

  test("a hook is read in the charset that it declares", async () => {
    await hook("before", "/a");
    answers["/a"] = () => ({ status: 200, body: latin, type: "application/json; charset=iso-8859-1" });
    expect((await create("Never")).resultJson).toContain("caf\u00e9");
  });

  test("a hook that does not answer within 5 s, or is not there, has nothing sent, and the same call may be made again", async () => {
    await hook("before", "/a");
    answers["/a"] = () => "never";
    const late = await create("Late");
    expect(late).toMatchObject({
      outcome: "unreachable",
      retryable: true,
      message: expect.stringContaining("within 5 s"),
    });
    answers = {};
    expect((await create("Late")).outcome).toBe("ok");
    await made("ToolsService/CreateHook", { phase: "before", endpointUrl: "http://127.0.0.1:9/nobody" });
    expect(await create("Gone")).toMatchObject({ outcome: "unreachable", message: expect.stringContaining("reached") });
  }, 20_000);

  test("only calls of its toolkits and classes are asked about, and none while it is paused", async () => {
    const { hook: one } = await hook("before", "/a", { toolkitSlugs: ["sales_crm"], accessClasses: ["write"] });
    await list();
    expect(asked).toHaveLength(0);
    await create("One");
    expect(asked).toHaveLength(1);
    await made("ToolsService/UpdateHook", { id: one.id, active: false });
    await create("Two");
    expect(asked).toHaveLength(1);
  });

  test("hooks confirm nothing: a destructive call is held still", async () => {
    await hook("before", "/a");
    answers["/a"] = () => ({ decision: "edit", arguments: { confirm: true } });
    const { callId: _, ...call } = await made("ToolsService/CallTool", {
      ...{ toolSlug: "sales_crm.delete_deal", entityId: "ada", argumentsJson: json({ deal_id: 1 }) },
    });
    expect(call.outcome).toBe("held");
  });
});

describe("after a call", () => {
  test("a hook puts another result in the place of the app's, which nobody is told", async () => {
    await create("Secret");
    await hook("after", "/a");
    answers["/a"] = ({ result }) => ({ decision: "edit", result: { ...result, data: [] } });
    const call = await list();
    expect(JSON.parse(call.resultJson)).toMatchObject({ data: [] });
    expect(asked[0]?.question).toMatchObject({ type: "call.after" });
    expect(json(asked[0]?.question.result)).toContain("Secret");
    expect((await ledgerOf(call.callId)).resultJson).not.toContain("Secret");
  });

  test("a result that is refused, or not answered about, is withheld: of a read as if it failed, of a write as done", async () => {
    await hook("after", "/a");
    answers["/a"] = () => ({ decision: "refuse" });
    expect(await list()).toMatchObject({ outcome: "not_callable", resultJson: "" });
    const write = await create("Done", { idempotencyKey: "done-1" });
    expect(write).toMatchObject({ outcome: "ok", resultJson: "{}", warnings: [expect.stringContaining("withheld")] });
    // The app made the change once. A repeated call gets the same answer.
    expect(await create("Done", { idempotencyKey: "done-1" })).toMatchObject({ replayed: true, resultJson: "{}" });
    answers["/a"] = () => ({ status: 503, body: "" });
    expect(await list()).toMatchObject({ outcome: "unreachable", retryable: true });
  });
});

describe("calls that are made again", () => {
  test("what was said of a call under its key is said once: a crash before it is sent changes nothing of it", async () => {
    await hook("before", "/a");
    let count = 0;
    answers["/a"] = () => ({ decision: "edit", arguments: { title: `Answer ${++count}` } });
    const key = { idempotencyKey: "crashed-1" };
    await create("Asked", key);
    // Simulates a crash after the hook's answer was stored and before the call was added to the ledger.
    await svc.database.db.sql`delete from tool_calls where idempotency_key = 'crashed-1'`;
    const again = await create("Asked", key);
    expect(again.resultJson).toContain("Answer 1");
    expect(asked).toHaveLength(1);
    expect((await ledgerOf(again.callId)).hooks).toMatchObject([{ decision: "edit" }]);
    // A call that differs in any argument is another call, and the hook is asked again.
    await svc.database.db.sql`delete from tool_calls where idempotency_key = 'crashed-1'`;
    expect((await create("Other", key)).resultJson).toContain("Answer 2");
  });

  test("what was said binds its key's call alone, and for a day, as idempotency keys do", async () => {
    await hook("before", "/a");
    const key = { idempotencyKey: "daily-1" };
    const again = async (bearer: string = svc.key) => {
      await svc.database.db.sql`delete from tool_calls where idempotency_key = 'daily-1'`;
      const body = { toolSlug: "sales_crm.create_deal", entityId: "ada", argumentsJson: json({ title: "Daily" }) };
      await made("ToolsService/CallTool", { ...body, ...key }, bearer);
      return asked.length;
    };
    expect([await again(), await again()]).toEqual([1, 1]);
    await svc.database.db.sql`update hook_answers set asked_at = asked_at - interval '24 hours'`;
    expect([await again(), await again()]).toEqual([2, 2]);
    const projectId = (await svc.admin("ListProjects")).json.projects[0].id;
    const { key: other } = (await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "other" })).json;
    expect(await again(other)).toBe(3);
    expect(asked[2]?.question.keyId).not.toBe(asked[1]?.question.keyId);
  });

  test("what a person has confirmed no hook changes", async () => {
    const projectId = (await svc.admin("ListProjects")).json.projects[0].id;
    const { key: person } = (await svc.admin("CreateApiKey", { projectId, role: "ROLE_APPROVER", name: "p" })).json;
    await made("ContactsService/PutContact", { contact: { principalId: "lead", name: "Lead" } });
    const skillOf = { type: "object", required: ["title"], properties: { title: { type: "string" } } };
    const args = { title: { $ref: "input.title" } };
    const skill = {
      ...{ version: 1, title: "Skill", inputSchema: skillOf, input: { title: "Once" }, approval: { plan: "never" } },
      steps: [{ id: "new", call: "sales_crm.create_deal", entity: "ada", args }],
    };
    const { id } = (await made("JobsService/SubmitJob", { programJson: json(skill) })).job;
    const status = async (jobId: string) => (await made("JobsService/GetJob", { id: jobId })).job.status;
    await until(async () => (await status(id)) === "JOB_STATUS_SUCCEEDED");
    await made("JobsService/PromoteJob", {
      jobId: id,
      slug: "new_deal",
      description: "Makes one deal of the pipeline.",
    });
    await svc.admin("SetProjectPolicy", { projectId, confirm: { person: "writes", contact: "lead" } });
    try {
      await hook("before", "/a");
      const answered = async (jobId: string) => {
        await made("JobsService/AnswerAsk", { jobId, principalId: "lead", continuation: "proceed" }, person);
        await until(async () => ["JOB_STATUS_SUCCEEDED", "JOB_STATUS_FAILED"].includes(await status(jobId)));
        return status(jobId);
      };
      const settled = async (title: string) => {
        const { outcome, jobId } = await create(title);
        expect(outcome).toBe("held");
        return answered(jobId);
      };
      // The hook edits the call in the same way again, so the call is still the one that the person saw.
      answers["/a"] = () => ({ decision: "edit", arguments: { currency: "EUR" } });
      expect(await settled("Once")).toBe("JOB_STATUS_SUCCEEDED");
      answers["/a"] = ({ arguments: { title } }) => ({ decision: "edit", arguments: { title: `${title}, again` } });
      expect(await settled("Twice")).toBe("JOB_STATUS_FAILED");
      // The calls of a skill are part of the confirmed program, so a changed one fails too.
      const run = { id: "do", run: "skills.new_deal", input: { title: "Twice" } };
      const programJson = json({ version: 1, title: "Outer", steps: [run] });
      const { job } = await made("JobsService/SubmitJob", { programJson });
      await until(async () => (await status(job.id)) === "JOB_STATUS_PENDING_PLAN_APPROVAL");
      expect(await answered(job.id)).toBe("JOB_STATUS_FAILED");
    } finally {
      await svc.admin("SetProjectPolicy", { projectId, confirm: { person: "" } });
    }
    answers = {};
    const { resultJson } = await list();
    expect(resultJson).toContain("Once");
    expect(resultJson).not.toContain("Twice");
  });

  test("what a job keeps secret is told to no hook, wherever its call carries it", async () => {
    await hook("before", "/before");
    await hook("after", "/after");
    const secret = "tk-5f0c2a917b";
    const program = {
      ...{ version: 1, title: "Secret", input: { token: secret } },
      inputSchema: {
        ...{ type: "object", required: ["token"] },
        properties: { token: { type: "string", "x-sensitive": true } },
      },
      steps: [
        { id: "new", call: "sales_crm.create_deal", entity: "ada", args: { title: { $text: "Of {input.token}" } } },
      ],
    };
    const { job } = await made("JobsService/SubmitJob", { programJson: json(program) });
    await until(async () => (await made("JobsService/GetJob", { id: job.id })).job.status === "JOB_STATUS_SUCCEEDED");
    expect(asked.map(({ question }) => question.arguments)).toEqual([{ title: "Of ***" }, { title: "Of ***" }]);
    expect(json(asked)).not.toContain(secret);
  });

  test("calls of jobs are asked about, too, and the job works with what they leave", async () => {
    await hook("before", "/before");
    await hook("after", "/after");
    answers["/before"] = ({ toolSlug, arguments: args }) =>
      toolSlug === "sales_crm.create_deal"
        ? { decision: "edit", arguments: { title: `${args.title}!` } }
        : { decision: "allow" };
    const steps = [{ id: "new", call: "sales_crm.create_deal", entity: "ada", args: { title: "By a job" } }];
    const programJson = json({ version: 1, title: "Hooked", steps });
    const { job } = await made("JobsService/SubmitJob", { programJson });
    const status = async () => (await made("JobsService/GetJob", { id: job.id })).job.status;
    await until(async () => (await status()) === "JOB_STATUS_SUCCEEDED");
    expect(asked.map(({ question }) => [question.type, question.jobId])).toEqual([
      ["call.before", job.id],
      ["call.after", job.id],
    ]);
    expect((await list()).resultJson).toContain("By a job!");
    answers["/before"] = () => ({ decision: "refuse", reason: "no jobs" });
    const refused = await made("JobsService/SubmitJob", { programJson });
    await until(
      async () => (await made("JobsService/GetJob", { id: refused.job.id })).job.status === "JOB_STATUS_FAILED",
    );
  });
});

test("hooks are the project's: another's reads as missing, no list has a secret, and there are at most 10", async () => {
  const { hook: one, signingSecret } = await hook("before", "/a");
  expect(signingSecret).toMatch(/^whsec_/);
  const listed = await made("ToolsService/ListHooks", {});
  expect(json(listed)).not.toContain(signingSecret);
  const other = (await svc.admin("CreateProject", { name: "other" })).json.project.id;
  const { key } = (await svc.admin("CreateApiKey", { projectId: other, role: "ROLE_APPROVER", name: "o" })).json;
  for (const [method, body] of [
    ["UpdateHook", { id: one.id, active: false }],
    ["DeleteHook", { id: one.id }],
  ] as const) {
    expect(await svc.call(`svc.v1.ToolsService/${method}`, body, { bearer: key })).toMatchObject({
      reason: "HOOK_NOT_FOUND",
    });
  }
  for (let count = 1; count < 10; count++) await hook("after", "/b", { accessClasses: ["destructive"] });
  const tooMany = { phase: "after", endpointUrl: `${base}/c` };
  expect(await svc.call("svc.v1.ToolsService/CreateHook", tooMany)).toMatchObject({ reason: "HOOKS_TOO_MANY" });
});

test.each([
  [{ phase: "during", endpointUrl: "http://127.0.0.1:9/a" }, "HOOK_PHASE_INVALID"],
  [{ phase: "before", endpointUrl: "http://10.0.0.1/a" }, "ENDPOINT_URL_NOT_HTTPS"],
  [{ phase: "before", endpointUrl: "https://169.254.169.254/a" }, "ENDPOINT_ADDRESS_REFUSED"],
  [{ phase: "before", endpointUrl: "http://127.0.0.1:9/a", toolkitSlugs: ["nope"] }, "TOOLKIT_NOT_FOUND"],
  [{ phase: "before", endpointUrl: "http://127.0.0.1:9/a", accessClasses: ["all"] }, "ACCESS_CLASS_INVALID"],
])("%j is refused as %s", async (body, reason) => {
  expect(await svc.call("svc.v1.ToolsService/CreateHook", body)).toMatchObject({ reason });
});
