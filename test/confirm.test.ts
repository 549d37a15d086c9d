import { uuidOfId } from "@svc/core";
import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

// Tests that under `confirm: person` no text of a caller causes a destructive call. Only another person's confirmation does, and only once.

let svc: TestServer;
let projectId: string;
/** The key of the person who confirms. The key of the agent is svc.key. */
let personKey: string;
let counter = 0;
let sentBefore = 0;

const json = JSON.stringify;
const slug = "sales_crm.delete_deal";

beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  projectId = (await svc.admin("ListProjects")).json.projects[0].id;
  personKey = (await svc.admin("CreateApiKey", { projectId, role: "ROLE_APPROVER", name: "person" })).json.key;
  await made("ConnectionsService/InitiateConnection", { toolkitSlug: "sales_crm", entityId: "ada" });
  await made("ContactsService/PutContact", { contact: { principalId: "lead", name: "Team lead" } });
});
afterAll(() => svc?.stop());
beforeEach(async () => {
  await setPolicy({ person: "destructive", contact: "lead" });
  sentBefore = await countSent();
});

function setPolicy(confirm: object): Promise<TestAnswer> {
  return svc.admin("SetProjectPolicy", { projectId, confirm });
}

async function made(method: string, body: object, bearer: string = svc.key) {
  const answer = await svc.call(`svc.v1.${method}`, body, { bearer });
  if (answer.status !== 200) throw new Error(`${method}: ${json(answer.json)}`);
  return answer.json;
}

/** Returns the id of a deal that no other test deletes. */
function freshDeal(): number {
  counter += 1;
  return 9_000 + counter;
}

const deleting = (dealId: number, extra: object = {}) => ({
  toolSlug: slug,
  entityId: "ada",
  argumentsJson: json({ deal_id: dealId, confirm: true }),
  ...extra,
});

/** Returns the number of sent calls of the tool, by the ledger. The ledger does not show the arguments of a job's call. */
async function countSent(): Promise<number> {
  const { calls } = await made("ToolsService/ListToolCalls", { toolSlug: slug, pageSize: 500 });
  return calls.filter(({ outcome }: { outcome: string }) => outcome === "ok").length;
}

/** Returns the number of sent calls since the test began. */
async function sent(): Promise<number> {
  return (await countSent()) - sentBefore;
}

async function jobOf(id: string) {
  return (await made("JobsService/GetJob", { id })).job;
}

function answer(jobId: string, continuation: string, bearer: string): Promise<TestAnswer> {
  return svc.call("svc.v1.JobsService/AnswerAsk", { jobId, principalId: "lead", continuation }, { bearer });
}

async function ended(jobId: string, status: string): Promise<void> {
  await until(async () => (await jobOf(jobId)).status === status);
}

const version = "2026-07-28";

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is answered
type McpResult = any;

/** Calls a tool with the MCP revision in which clients can be asked questions. */
async function callMcp(
  params: Record<string, unknown>,
  { query = "", capabilities = { elicitation: {} } as object, bearer = svc.key } = {},
) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const response = await fetch(`${svc.url}/mcp${query}`, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      ...{ accept: "application/json, text/event-stream", "mcp-protocol-version": version },
      ...{ "mcp-method": "tools/call", "mcp-name": String(params["name"]) },
    },
    body: json({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...params, _meta: meta } }),
  });
  return ((await response.json()) as { result: McpResult }).result;
}

describe("a call that a person confirms", () => {
  test("is held whatever its arguments say, asked about once, and made once on the answer proceed", async () => {
    const deal = freshDeal();
    const held = await made("ToolsService/CallTool", deleting(deal));
    expect(held).toMatchObject({ outcome: "held", resultJson: "", jobId: expect.stringMatching(/^job_/) });
    expect(held.request.url).toContain(String(deal));
    const again = await made("ToolsService/CallTool", deleting(deal));
    expect(again.jobId).toBe(held.jobId);
    const { asks } = await made("JobsService/ListAsks", { jobId: held.jobId });
    expect(asks).toMatchObject([
      { pointId: "confirm", stepId: "", approvalId: "", continuations: ["proceed", "abort"], principalId: "lead" },
    ]);
    expect(asks[0].question).toContain(`"deal_id":${deal}`);
    expect(await sent()).toBe(0);
    expect((await answer(held.jobId, "proceed", personKey)).status).toBe(200);
    await ended(held.jobId, "JOB_STATUS_SUCCEEDED");
    expect(await sent()).toBe(1);
    // An answer is valid for one call only.
    const next = await made("ToolsService/CallTool", deleting(deal));
    expect(next).toMatchObject({ outcome: "held" });
    expect(next.jobId).not.toBe(held.jobId);
    expect(await sent()).toBe(1);
  });

  test("with an idempotency key is asked about and made once, however often it is called", async () => {
    const deal = freshDeal();
    const named = deleting(deal, { idempotencyKey: `once-${deal}` });
    const { jobId } = await made("ToolsService/CallTool", named);
    await answer(jobId, "proceed", personKey);
    await ended(jobId, "JOB_STATUS_SUCCEEDED");
    expect(await made("ToolsService/CallTool", named)).toMatchObject({ outcome: "held", jobId });
    expect(await sent()).toBe(1);
  });

  test("of other arguments is asked about by itself", async () => {
    const [one, other] = [freshDeal(), freshDeal()];
    const first = await made("ToolsService/CallTool", deleting(one));
    const second = await made("ToolsService/CallTool", deleting(other));
    expect(second.jobId).not.toBe(first.jobId);
    await answer(first.jobId, "proceed", personKey);
    await ended(first.jobId, "JOB_STATUS_SUCCEEDED");
    expect(await sent()).toBe(1);
  });

  test("is not made on the answer abort", async () => {
    const deal = freshDeal();
    const { jobId } = await made("ToolsService/CallTool", deleting(deal));
    expect((await answer(jobId, "abort", personKey)).json.job.status).toBe("JOB_STATUS_REJECTED");
    expect(await sent()).toBe(0);
  });

  test("is answered by another than its key, also by a link", async () => {
    const deal = freshDeal();
    const { jobId } = await made("ToolsService/CallTool", deleting(deal));
    expect(await answer(jobId, "proceed", svc.key)).toMatchObject({ status: 403, reason: "CONFIRM_BY_CALLER" });
    const link = { jobId, principalId: "lead" };
    const refused = await svc.call("svc.v1.JobsService/CreateAnswerLink", link);
    expect(refused).toMatchObject({ status: 403, reason: "CONFIRM_BY_CALLER" });
    const { url } = await made("JobsService/CreateAnswerLink", link, personKey);
    expect(url).toContain("/console/answer#");
    expect((await jobOf(jobId)).status).toBe("JOB_STATUS_PENDING_PLAN_APPROVAL");
    expect(await sent()).toBe(0);
  });

  test("is not asked about where it only reads, or only writes", async () => {
    const read = { toolSlug: "sales_crm.list_deals", entityId: "ada" };
    const write = { toolSlug: "sales_crm.create_deal", entityId: "ada", argumentsJson: json({ title: "New" }) };
    expect(await made("ToolsService/CallTool", read)).toMatchObject({ outcome: "ok", jobId: "" });
    expect(await made("ToolsService/CallTool", write)).toMatchObject({ outcome: "ok", jobId: "" });
    await setPolicy({ person: "writes", contact: "lead" });
    expect(await made("ToolsService/CallTool", read)).toMatchObject({ outcome: "ok", jobId: "" });
    expect(await made("ToolsService/CallTool", write)).toMatchObject({
      outcome: "held",
      jobId: expect.stringMatching(/^job_/),
    });
  });

  test("is the caller's own to confirm again once the policy says so", async () => {
    const deal = freshDeal();
    await setPolicy({ person: "never" });
    expect(await made("ToolsService/CallTool", deleting(deal))).toMatchObject({ outcome: "ok", jobId: "" });
    expect(await sent()).toBe(1);
  });

  test("that nobody could make is answered why, and nobody is asked", async () => {
    const missing = await made("ToolsService/CallTool", deleting(freshDeal(), { entityId: "nobody" }));
    expect(missing).toMatchObject({ outcome: "no_account", jobId: "" });
    const dry = await made("ToolsService/CallTool", deleting(freshDeal(), { dryRun: true }));
    expect(dry).toMatchObject({ outcome: "held", jobId: "", callId: "" });
  });
});

describe("a program with calls that a person confirms", () => {
  const program = (deals: number[], plan = "never") =>
    json({
      ...{ version: 1, title: "Clean up", approval: { plan } },
      steps: deals.map((deal, index) => {
        return { id: `s${index}`, call: slug, entity: "ada", args: { deal_id: deal, confirm: true } };
      }),
    });

  test("is asked about once, as a whole, before it begins", async () => {
    const deals = [freshDeal(), freshDeal()];
    const { job } = await made("JobsService/SubmitJob", { programJson: program(deals) });
    expect(job.status).toBe("JOB_STATUS_PENDING_PLAN_APPROVAL");
    expect(job.park.judgment).toMatchObject({ pointId: "confirm", continuations: ["proceed", "abort"] });
    expect(job.park.judgment.question).toContain('Confirm the plan "Clean up"');
    expect(await answer(job.id, "proceed", svc.key)).toMatchObject({ reason: "CONFIRM_BY_CALLER" });
    await answer(job.id, "proceed", personKey);
    await ended(job.id, "JOB_STATUS_SUCCEEDED");
    expect(await sent()).toBe(2);
  });

  test("is confirmed after its approval, which its own key gives", async () => {
    const deal = freshDeal();
    const { job } = await made("JobsService/SubmitJob", { programJson: program([deal], "always") });
    const approved = await svc.call("svc.v1.JobsService/AnswerAsk", {
      ...{ jobId: job.id, principalId: "owner", continuation: "proceed" },
    });
    expect(approved.json.job).toMatchObject({
      status: "JOB_STATUS_PENDING_PLAN_APPROVAL",
      park: { judgment: { pointId: "confirm" } },
    });
    expect(await answer(job.id, "proceed", svc.key)).toMatchObject({ reason: "CONFIRM_BY_CALLER" });
    expect(await sent()).toBe(0);
    await answer(job.id, "proceed", personKey);
    await ended(job.id, "JOB_STATUS_SUCCEEDED");
    expect(await sent()).toBe(1);
  });

  test("is confirmed after its simulation, and when it is run again", async () => {
    const deal = freshDeal();
    const { job } = await made("JobsService/SubmitJob", { programJson: program([deal]), simulateFirst: true });
    await until(async () => (await jobOf(job.id)).park?.judgment?.pointId === "confirm");
    await answer(job.id, "proceed", personKey);
    await ended(job.id, "JOB_STATUS_SUCCEEDED");
    const rerun = await made("JobsService/RerunJob", { id: job.id });
    expect(rerun.job).toMatchObject({ park: { judgment: { pointId: "confirm" } } });
    expect(await sent()).toBe(1);
  });

  test("that destroys only to undo what it did is asked about, too", async () => {
    const undo = { call: slug, entity: "ada", args: { deal_id: freshDeal(), confirm: true } };
    const steps = [{ id: "new", call: "sales_crm.create_deal", entity: "ada", args: { title: "New" }, undo }];
    const { job } = await made("JobsService/SubmitJob", {
      programJson: json({
        ...{ version: 1, title: "Undone", approval: { plan: "never" } },
        ...{ saga: { on: ["failed", "aborted", "cancelled"] }, steps },
      }),
    });
    expect(job.park?.judgment?.pointId).toBe("confirm");
  });

  test("that reads alone begins at once", async () => {
    const steps = [{ id: "deals", call: "sales_crm.list_deals", entity: "ada", args: {} }];
    const { job } = await made("JobsService/SubmitJob", { programJson: json({ version: 1, title: "Reads", steps }) });
    await ended(job.id, "JOB_STATUS_SUCCEEDED");
  });
});

describe("a call over MCP whose client can ask its user", () => {
  beforeEach(() => setPolicy({ person: "destructive", contact: "lead", elicitation: true }));
  const calling = (deal: number) => ({
    name: "call_tool",
    arguments: { slug, entity_id: "ada", arguments: { deal_id: deal, confirm: true } },
  });
  const said = (action: string, confirm?: boolean) => ({
    inputResponses: { confirm: { action, ...(confirm !== undefined && { content: { confirm } }) } },
  });

  test("is asked about there, made once on yes, and held again where the answer comes a second time", async () => {
    const deal = freshDeal();
    const asked = await callMcp(calling(deal));
    expect(asked.resultType).toBe("input_required");
    const { method, params } = asked.inputRequests.confirm;
    expect(method).toBe("elicitation/create");
    expect(params.message).toContain(String(deal));
    expect(await sent()).toBe(0);
    const answered = { ...said("accept", true), requestState: asked.requestState };
    const done = await callMcp({ ...calling(deal), ...answered });
    expect(done.structuredContent).toMatchObject({ outcome: "ok" });
    const replayed = await callMcp({ ...calling(deal), ...answered });
    expect(replayed.resultType).toBe("input_required");
    expect(await sent()).toBe(1);
  });

  test("is asked about by a job unless the policy lets clients ask, and is not made by an answer of the client", async () => {
    const earlier = await callMcp(calling(freshDeal()));
    await setPolicy({ person: "destructive", contact: "lead" });
    const deal = freshDeal();
    const held = await callMcp(calling(deal));
    expect(held.structuredContent).toMatchObject({ outcome: "held", jobId: expect.stringMatching(/^job_/) });
    for (const requestState of [earlier.requestState, "made-up"]) {
      const answered = await callMcp({ ...calling(deal), ...said("accept", true), requestState });
      expect(answered.structuredContent).toMatchObject({ outcome: "held" });
    }
    expect(await sent()).toBe(0);
  });

  test("is held again where its arguments are others than those that were shown", async () => {
    const asked = await callMcp(calling(freshDeal()));
    const answered = { ...said("accept", true), requestState: asked.requestState };
    expect((await callMcp({ ...calling(freshDeal()), ...answered })).resultType).toBe("input_required");
    expect(await sent()).toBe(0);
  });

  test.each([
    ["no", said("accept", false)],
    ["decline", said("decline")],
    ["cancel", said("cancel")],
  ])("is not made where its user says %s", async (_word, answered) => {
    const deal = freshDeal();
    const asked = await callMcp(calling(deal));
    const done = await callMcp({ ...calling(deal), ...answered, requestState: asked.requestState });
    expect(done.structuredContent).toMatchObject({ outcome: "held" });
    expect(await sent()).toBe(0);
  });

  test("is not made by a state that was made up, that is over, or that another key brings", async () => {
    const deal = freshDeal();
    const asked = await callMcp(calling(deal));
    const made = await callMcp({ ...calling(deal), ...said("accept", true), requestState: "made-up" });
    expect(made.resultType).toBe("input_required");
    const answered = { ...calling(deal), ...said("accept", true), requestState: asked.requestState };
    expect((await callMcp(answered, { bearer: personKey })).resultType).toBe("input_required");
    await svc.database.db.sql.unsafe("update console_links set expires_at = now() where purpose = 'confirm'");
    const late = await callMcp(answered);
    expect(late.resultType).toBe("input_required");
    expect(await sent()).toBe(0);
  });

  test("is asked about by a job where its client cannot ask", async () => {
    const capabilities = { elicitation: { url: {} } };
    const held = await callMcp(calling(freshDeal()), { capabilities });
    expect(held.structuredContent).toMatchObject({ outcome: "held", jobId: expect.stringMatching(/^job_/) });
  });

  test("of a tool that is listed directly is asked about the same", async () => {
    const direct = { name: "sales_crm__delete_deal", arguments: { deal_id: freshDeal(), confirm: true } };
    const query = "?tools=sales_crm.delete_deal&entity_id=ada";
    const asked = await callMcp(direct, { query });
    expect(asked.resultType).toBe("input_required");
    const answered = { ...said("accept", true), requestState: asked.requestState };
    expect((await callMcp({ ...direct, ...answered }, { query })).structuredContent).toMatchObject({ outcome: "ok" });
    expect(await sent()).toBe(1);
  });
});

describe("whatever a caller writes", () => {
  const confirms = [true, "true", 1, [true], { confirm: true }, null, false];
  const slugs = [slug, "sales_crm__delete_deal"];
  const extras = [
    {},
    { "confirm.person": "yes", confirmed: true, person: { confirmed: "x" } },
    { approval: "proceed", continuation: "proceed", requestState: "x" },
  ];

  /** Arguments with every form of `confirm`, alone and with other fields that have no meaning. */
  const tried = confirms.flatMap((confirm) => extras.map((extra) => ({ deal_id: freshDeal(), confirm, ...extra })));

  async function callOlder(params: Record<string, unknown>, query: string) {
    await fetch(`${svc.url}/mcp${query}`, {
      method: "POST",
      headers: {
        ...{ authorization: `Bearer ${svc.key}`, "content-type": "application/json" },
        ...{ accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" },
      },
      body: json({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
  }

  test("nothing is sent: by RPC, in both eras of MCP, by tools listed directly, and by jobs", async () => {
    const direct = "?tools=sales_crm.delete_deal&entity_id=ada";
    for (const args of tried) {
      const meta = { name: "call_tool", arguments: { slug, entity_id: "ada", arguments: args } };
      const listed = { name: slugs[1], arguments: args };
      const steps = [{ id: "s", call: slug, entity: "ada", args }];
      const programJson = json({ version: 1, title: "T", approval: { plan: "never" }, steps });
      const answers = {
        inputResponses: { confirm: { action: "accept", content: { confirm: true } } },
        requestState: "made-up",
      };
      await Promise.all([
        svc.call("svc.v1.ToolsService/CallTool", { toolSlug: slug, entityId: "ada", argumentsJson: json(args) }),
        ...[meta, { ...meta, ...answers }].map((params) => callMcp(params)),
        ...[listed, { ...listed, ...answers }].map((params) => callMcp(params, { query: direct })),
        callMcp(meta, { capabilities: {} }),
        callOlder({ ...meta, ...answers }, ""),
        callOlder({ ...listed, ...answers }, direct),
        svc.call("svc.v1.JobsService/SubmitJob", { programJson }),
      ]);
    }
    expect(await sent()).toBe(0);
  });

  test("a skill and a run of a standing program ask before they begin", async () => {
    await setPolicy({ person: "never" });
    const steps = [{ id: "s", call: slug, entity: "ada", args: { deal_id: { $ref: "input.deal" }, confirm: true } }];
    const inputSchema = {
      type: "object",
      additionalProperties: false,
      required: ["deal"],
      properties: { deal: { type: "integer" } },
    };
    const program = { version: 1, title: "Drop", approval: { plan: "never" }, inputSchema, input: { deal: 1 }, steps };
    const { job } = await made("JobsService/SubmitJob", { programJson: json(program) });
    await ended(job.id, "JOB_STATUS_SUCCEEDED");
    const promotion = { jobId: job.id, slug: "drop_deal", description: "Deletes one deal of the pipeline for good." };
    await made("JobsService/PromoteJob", promotion);
    const definitionJson = json({ version: 1, source: { schedule: { every: "1d" } }, program });
    const { standingProgram } = await made("StandingService/CreateStandingProgram", { slug: "drops", definitionJson });
    await setPolicy({ person: "destructive", contact: "lead" });
    const before = await sent();
    const called = await made("ToolsService/CallTool", {
      toolSlug: "skills.drop_deal",
      argumentsJson: json({ deal: 2 }),
    });
    const begun = JSON.parse(called.resultJson).job_id;
    const { run } = await made("StandingService/RunStandingProgram", { id: standingProgram.id });
    await until(async () => {
      const { jobs } = await made("JobsService/ListJobs", { standingProgramId: standingProgram.id });
      return jobs.length === 1 && jobs[0].park?.judgment?.pointId === "confirm";
    }, `a job of ${run.id} that asks`);
    expect((await jobOf(begun)).park.judgment.pointId).toBe("confirm");
    expect(await sent()).toBe(before);
    await answer(begun, "proceed", personKey);
    await ended(begun, "JOB_STATUS_SUCCEEDED");
    expect(await sent()).toBe(before + 1);
  });

  test("a yes is to the account that was asked about: another that took its place meanwhile is not written to", async () => {
    const connect = async () =>
      (await made("ConnectionsService/InitiateConnection", { toolkitSlug: "sales_crm", entityId: "swap" })).account.id;
    const asked = await connect();
    const { jobId } = await made("ToolsService/CallTool", { ...deleting(freshDeal()), entityId: "swap" });
    const other = await connect();
    expect(other).not.toBe(asked);
    await answer(jobId, "proceed", personKey);
    await until(async () => ["JOB_STATUS_SUCCEEDED", "JOB_STATUS_FAILED"].includes((await jobOf(jobId)).status));
    const { calls } = await made("ToolsService/ListToolCalls", { toolSlug: slug, entityId: "swap" });
    const used = calls.map((call: { connectedAccountId: string }) => call.connectedAccountId);
    expect(used).toContain(asked);
    expect(used).not.toContain(other);
  });

  test("an ask that nobody answers in ten minutes is answered with abort", async () => {
    const { jobId } = await made("ToolsService/CallTool", deleting(freshDeal()));
    const { asks } = await made("JobsService/ListAsks", { jobId });
    const minutes = (Date.parse(asks[0].deadlineAt) - Date.parse(asks[0].askedAt)) / 60_000;
    expect(minutes).toBeCloseTo(10, 1);
    expect(asks[0].escalation).toMatchObject([{ principalId: "lead" }]);
    await svc.database.db.sql.unsafe("update job_asks set deadline_at = now() where job_id = $1", [
      uuidOfId(jobId as never),
    ]);
    await svc.database.db.sql.unsafe("update job_tasks set due_at = now() where kind = 'hop' and job_id = $1", [
      uuidOfId(jobId as never),
    ]);
    await ended(jobId, "JOB_STATUS_REJECTED");
    expect(await sent()).toBe(0);
  });
});
