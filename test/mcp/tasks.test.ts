import { letIn, registerAgent } from "@svc/testing/agent";
import { createTestMcpClient, type TestMcpClient, taskCapabilities } from "@svc/testing/mcp-client";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { calendarSecret, postCalendar } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../tools/project.ts";

// Programs of agents, sent over MCP by a handwritten client to a service with its sandbox.

let svc: TestServer;
let agent: TestMcpClient;
let plain: TestMcpClient;
const query = "tools=check_program,run_program";

beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force", SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret } });
  await connect(svc, "sales_crm", { scheme: "api_key" });
  agent = createTestMcpClient({ url: svc.url, key: svc.key, query, capabilities: taskCapabilities });
  plain = createTestMcpClient({ url: svc.url, key: svc.key, query });
});
afterAll(() => svc?.stop());

const deals = {
  ...{ id: "deals", call: "sales_crm.list_deals", entity: "ann", args: {} },
  rows: { from: "data[]", key: "id", keep: ["id"] },
};
const counting = {
  ...{ version: 1, title: "Counts deals", steps: [deals] },
  result: { deals: { $ref: "rows.deals" } },
};
const asking = {
  ...{ version: 1, title: "Asks", steps: [deals, { id: "gate", judge: "sure" }], result: counting.result },
  points: {
    sure: {
      question: "Go on with {rows.deals}?",
      continuations: ["proceed", "abort"],
      escalation: [{ principal: "owner" }],
    },
  },
};
const waiting = { version: 1, title: "Waits", steps: [{ id: "pause", wait: "1h" }] };

const get = async (taskId: string, client = agent) => (await client.request("tasks/get", { taskId })).result;
const answer = (inputResponses: object, taskId: string, client = agent) =>
  client.request("tasks/update", { taskId, inputResponses });

/** Waits until the task has a status, and returns the task. */
async function taskOnce(status: string, taskId: string) {
  await until(async () => (await get(taskId)).status === status, `the task is ${status}`);
  return get(taskId);
}

describe("run_program", () => {
  test("a program that ends in time is answered with its result, to a client with tasks too", async () => {
    for (const client of [agent, plain]) {
      const { resultType, content, structuredContent, isError } = await client.call("run_program", {
        program: counting,
      });
      expect({ resultType, isError }).toEqual({ resultType: "complete", isError: false });
      expect(structuredContent).toMatchObject({ status: "succeeded", outcome: "complete", calls: { read: 1 } });
      expect(structuredContent.result.deals).toBeGreaterThan(0);
      expect(content[0].text).toContain(`Result: {"deals":${structuredContent.result.deals}}`);
    }
  });

  test("its faults are told as check_program tells them, in the words of agents' tools", async () => {
    const program = { ...counting, steps: [{ ...deals, args: { limt: 5 } }] };
    const checked = await plain.call("check_program", { program });
    expect(checked.isError).toBe(true);
    expect(checked.structuredContent.faults).toHaveLength(1);
    expect(checked.content[0].text).toMatch(/^program\/steps\/0\/args/);
    const run = await plain.call("run_program", { program });
    expect(run.isError).toBe(true);
    expect(run.structuredContent.error.reason).toBe(checked.structuredContent.faults[0].reason);
    expect((await plain.call("check_program", { program: counting })).content[0].text).toContain("No errors");
  });

  test("a client without tasks is told the job's id, and waits on by it", async () => {
    const begun = await plain.call("run_program", { program: waiting });
    expect(begun.structuredContent).toMatchObject({ status: "parked" });
    expect(begun.content[0].text).toContain("call run_program with job_id");
    const { jobId } = begun.structuredContent;
    const again = await plain.call("run_program", { job_id: jobId, wait_seconds: 0 });
    expect(again.structuredContent).toMatchObject({ jobId, status: "parked" });
    await svc.call("svc.v1.JobsService/CancelJob", { id: jobId });
    expect((await plain.call("run_program", { job_id: jobId })).structuredContent.status).toBe("cancelled");
  });

  test("a client without tasks is told whom a job waits for, and not to ask again, and ends it", async () => {
    const begun = await plain.call("run_program", { program: asking });
    const { jobId, waitsFor } = begun.structuredContent;
    expect(waitsFor).toMatchObject({
      principalId: "owner",
      question: expect.stringMatching(/^Go on with \d+\?$/),
      jobId,
    });
    const [{ text }] = begun.content;
    expect(text).toMatch(/waits for a person: owner is asked "Go on with \d+\?"; they answer in the console, http/);
    expect(text).toContain(`/asks/${jobId}/${waitsFor.askId}`);
    expect(text).toContain("Do not call again to wait");
    expect(text).not.toContain("It continues on the server");
    const ended = await plain.call("run_program", { job_id: jobId, cancel: true });
    expect(ended.structuredContent).toMatchObject({ jobId, status: "cancelled" });
    // A second cancel changes nothing.
    const again = await plain.call("run_program", { job_id: jobId, cancel: true });
    expect(again.structuredContent.status).toBe("cancelled");
    const done = await plain.call("run_program", { program: counting });
    const late = await plain.call("run_program", { job_id: done.structuredContent.jobId, cancel: true });
    expect(late.structuredContent.status).toBe("succeeded");
  });

  test("a client says with a null what it leaves out, and a program as JSON text", async () => {
    const nulls = { job_id: null, cancel: null, simulate: null, idempotency_key: null, wait_seconds: null };
    const { structuredContent } = await plain.call("run_program", { program: JSON.stringify(counting), ...nulls });
    expect(structuredContent).toMatchObject({ status: "succeeded", outcome: "complete" });
  });

  test("search, describe and the refusal of a call say whose accounts are connected", async () => {
    const meta = createTestMcpClient({ url: svc.url, key: svc.key });
    const connected = [{ toolkit: "sales_crm", entityIds: ["ann"], hasMore: false }];
    const found = await meta.call("search_tools", { query: "list deals", toolkit: "sales_crm" });
    expect(found.structuredContent.connected).toEqual(connected);
    expect(found.content.at(-1).text).toBe('Connected accounts: sales_crm: entity_id "ann".');
    const described = await meta.call("describe_tool", { slug: "sales_crm.list_deals" });
    expect(described.structuredContent.connected).toEqual(connected);
    for (const entity of [{}, { entity_id: "nobody" }]) {
      const refused = await meta.call("read_tool", { slug: "sales_crm.list_deals", ...entity });
      expect(refused).toMatchObject({ isError: true, structuredContent: { outcome: "no_account", connected } });
    }
    const other = await meta.call("describe_tool", { slug: "messaging_bot.send_message" });
    expect(other.content.at(-1).text).toBe("Connected accounts: messaging_bot: none.");
  });

  test("what names both a program and a job, or neither, runs nothing", async () => {
    const unclear = [{}, { program: counting, cancel: true }, { cancel: true }];
    for (const args of [...unclear, { program: counting, job_id: "job_00000000000000000000000000" }]) {
      const { isError, structuredContent } = await plain.call("run_program", args);
      expect([isError, structuredContent.error.reason]).toEqual([true, "RUN_ARGUMENTS_UNCLEAR"]);
    }
    const missing = await plain.call("run_program", { job_id: "job_00000000000000000000000000" });
    expect(missing.structuredContent.error.reason).toBe("JOB_NOT_FOUND");
  });

  test("a program that is simulated sends no write, and a failed one says where", async () => {
    const write = { id: "write", call: "sales_crm.create_deal", entity: "ann", args: { title: "t" } };
    const program = { version: 1, title: "Writes", steps: [write] };
    const { content } = await plain.call("run_program", { program, simulate: true });
    expect(content[0].text).toMatch(/^Simulated; no write was sent/);
    const failing = {
      ...{ version: 1, title: "Fails", input: { rows: [{ id: 1, text: "x" }] } },
      inputSchema: { type: "object", properties: { rows: { type: "array", items: { type: "object" } } } },
      steps: [
        { id: "rows", take: "input.rows", key: "id", keep: ["id", "text"] },
        { id: "sum", reduce: "rows", as: { all: "sum text" } },
      ],
    };
    const failed = await plain.call("run_program", { program: failing });
    expect([failed.isError, failed.structuredContent.status]).toEqual([true, "failed"]);
    expect(failed.content[0].text).toContain("VALUE_UNFIT");
  });

  test("with a key of its own the same program is run once", async () => {
    const args = { program: counting, idempotency_key: "once" };
    const [first, second] = [await plain.call("run_program", args), await plain.call("run_program", args)];
    expect(second.structuredContent.jobId).toBe(first.structuredContent.jobId);
  });
});

describe("what a key or a grant is given", () => {
  const keyWith = async (agentTools: readonly string[], more: object = {}) => {
    const { projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json;
    const body = { projectId, role: "ROLE_MEMBER", name: "agent", agentTools, ...more };
    return (await svc.admin("CreateApiKey", body)).json.key as string;
  };
  const listed = async (key: string, address = "") => {
    const client = createTestMcpClient({ url: svc.url, key, query: address });
    const { result, error } = await client.request("tools/list");
    return error?.message ?? result.tools.map(({ name }: { name: string }) => name);
  };
  const four = ["search_tools", "describe_tool", "read_tool", "call_tool"];

  test("is listed beside the meta-tools, and nothing else is", async () => {
    expect(await listed(await keyWith([]))).toEqual(four);
    const programs = ["check_program", "run_program"];
    expect(await listed(await keyWith(["programs"]))).toEqual([...four, ...programs]);
    const all = await keyWith(["programs", "connect", "operate", "repair"]);
    const operators = ["where_is_event", "explain_delivery", "retry_delivery", "release_post", "why"];
    expect(await listed(all)).toEqual([...four, ...programs, "connect_account", ...operators]);
    // An API key may run programs and create links by calls in any case. The tools for the whole project and for repair must be granted.
    const plainKey = await keyWith([]);
    expect(await listed(plainKey, "tools=run_program,connect_account")).toEqual(["run_program", "connect_account"]);
    expect(await listed(plainKey, "tools=where_is_event")).toContain("which this project does not have");
    expect(await listed(await keyWith(["operate"]), "tools=retry_delivery")).toContain(
      "which this project does not have",
    );
    const wrong = await svc.admin("CreateApiKey", { role: "ROLE_MEMBER", name: "x", agentTools: ["everything"] });
    expect(wrong.status).toBe(400);
  });

  test("a grant has what its person chose, and follows the jobs that it began alone", async () => {
    const program = { program: waiting, wait_seconds: 0 };
    const { jobId } = (await plain.call("run_program", program)).structuredContent;
    const grantOf = async (agentTools: readonly string[]) => {
      const made = await registerAgent(svc.url);
      const chosen = { "any-entity": "yes", entity: "", access: ["read"], "agent-tools": [...agentTools] };
      const left = await letIn(svc, made, chosen);
      return (await made.change(left.get("code") ?? "")).json.access_token as string;
    };
    const none = await grantOf([]);
    expect(await listed(none)).toEqual(four.slice(0, 3));
    expect(await listed(none, "tools=run_program")).toContain("which this project does not have");
    // Only an administrator can grant repair. The key behind this token does not have it.
    const token = await grantOf(["programs", "operate", "repair"]);
    expect(await listed(token)).toEqual([
      ...four.slice(0, 3),
      ...["check_program", "run_program", "where_is_event", "explain_delivery", "why"],
    ]);
    const client = createTestMcpClient({ url: svc.url, key: token, capabilities: taskCapabilities });
    expect((await client.request("tasks/get", { taskId: jobId })).error.message).toBe("Task not found");
    const own = await client.call("run_program", program);
    expect((await get(own.taskId, client)).status).toBe("working");
    expect((await get(own.taskId)).status).toBe("working");
    for (const taskId of [jobId, own.taskId]) await agent.request("tasks/cancel", { taskId });
  });

  test("a link to a connection is answered, and stands in the audit log", async () => {
    const client = createTestMcpClient({ url: svc.url, key: await keyWith(["connect"]) });
    const { structuredContent, isError } = await client.call("connect_account", {
      toolkit: "sales_crm",
      entity_id: "eve",
    });
    expect(isError).toBe(false);
    expect(structuredContent.url).toContain("/connect#");
    const refused = await client.call("connect_account", { toolkit: "no_such_app", entity_id: "eve" });
    expect(refused.structuredContent.error.reason).toBe("TOOLKIT_NOT_FOUND");
    const { events } = (await svc.admin("ListAuditEvents", { pageSize: 20 })).json;
    const links = events.filter(({ action }: { action: string }) => action === "ConnectionsService.CreateConnectLink");
    expect(links.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["not_found", "ok"]);
  });

  test("operators see where an event is and why its delivery failed, and send it again", async () => {
    const { subscription } = (
      await svc.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl: "http://127.0.0.1:9/nobody" })
    ).json;
    const client = createTestMcpClient({ url: svc.url, key: await keyWith(["operate", "repair"]) });
    expect(await postCalendar({ url: svc.url }, "channel-7", 1)).toBe(202);
    const found = await client.call("where_is_event", { contains: "channel-7" });
    const [event] = found.structuredContent.events;
    expect(event.trigger).toBe("calendar.events_changed");
    const [{ deliveryId }] = event.deliveries;
    await until(async () => {
      const { structuredContent } = await client.call("explain_delivery", { delivery_id: deliveryId });
      return structuredContent.attempts.length > 0;
    }, "an attempt");
    const explained = await client.call("explain_delivery", { delivery_id: deliveryId });
    expect(explained.structuredContent).toMatchObject({ state: "pending", subscriptionId: subscription.id });
    expect(explained.content[0].text).toContain("svc sends it again at ");
    const why = await client.call("why", { id: deliveryId });
    expect(why.structuredContent.why[0]).toMatchObject({ id: deliveryId, remedy: "try endpoint now" });
    expect(why.content[0].text).toMatch(/^Delivery to .* \[dlv_\w+\] May help: try endpoint now\./);
    const again = await client.call("retry_delivery", { delivery_id: deliveryId });
    expect(again.structuredContent).toMatchObject({ queued: true });
    const { events } = (await client.call("where_is_event", { event_id: event.eventId })).structuredContent;
    expect(events[0].deliveries).toHaveLength(2);
    const missing = await client.call("release_post", { post_id: "qrn_00000000000000000000000000" });
    expect([missing.isError, missing.structuredContent.outcome]).toEqual([true, "missing"]);
    // A held webhook post belongs to no project. If there is a second project, only the administrator may release the post.
    await svc.admin("CreateProject", { name: "beside" });
    const refused = await client.call("release_post", { post_id: "qrn_00000000000000000000000000" });
    expect([refused.isError, refused.structuredContent.outcome]).toEqual([true, "refused"]);
    expect(refused.content[0].text).toContain("svc quarantine release qrn_");
    await svc.call("svc.v1.TriggersService/DeleteSubscription", { id: subscription.id });
  });
});

describe("tasks", () => {
  test("a question of the program is asked of the client's user, and its answer goes on with the job", async () => {
    const made = await agent.call("run_program", { program: asking });
    expect(made).toMatchObject({ resultType: "task", status: "working", ttlMs: null });
    expect(made.taskId).toMatch(/^job_/);
    expect(made).not.toHaveProperty("result");
    const task = await get(made.taskId);
    expect(task).toMatchObject({ resultType: "complete", status: "input_required", taskId: made.taskId });
    const [key = ""] = Object.keys(task.inputRequests);
    const request = task.inputRequests[key];
    expect(request.method).toBe("elicitation/create");
    expect(request.params.message).toMatch(/^Go on with \d+\?$/);
    expect(request.params.requestedSchema.properties.continuation.enum).toEqual(["proceed", "abort"]);
    // A reply to another question, or a declined one, settles nothing.
    for (const said of [
      { other: { action: "accept", content: { continuation: "proceed" } } },
      { [key]: { action: "decline" } },
    ])
      expect((await answer(said, made.taskId)).result).toMatchObject({ resultType: "complete" });
    expect((await get(made.taskId)).status).toBe("input_required");
    const wrong = await answer({ [key]: { action: "accept", content: { continuation: "skip" } } }, made.taskId);
    expect(wrong.error).toMatchObject({ code: -32_602, data: { reason: "CONTINUATION_NOT_DECLARED" } });
    const accepted = { [key]: { action: "accept", content: { continuation: "proceed", note: "fine" } } };
    expect((await answer(accepted, made.taskId)).result).not.toHaveProperty("status");
    const done = await taskOnce("completed", made.taskId);
    expect(done.result).toMatchObject({ isError: false, structuredContent: { status: "succeeded" } });
    // A second identical answer changes nothing.
    expect((await answer(accepted, made.taskId)).result).toMatchObject({ resultType: "complete" });
    const { ask } = (await svc.call("svc.v1.JobsService/GetAsk", { requestId: key })).json;
    expect(ask.decision).toMatchObject({ continuation: "proceed", note: "fine", principalId: "owner" });
  });

  test("a client that cannot ask its user is told whom the job waits for", async () => {
    const { taskId } = await agent.call("run_program", { program: asking });
    const capabilities = { extensions: taskCapabilities.extensions };
    const mute = createTestMcpClient({ url: svc.url, key: svc.key, query, capabilities });
    const task = await get(taskId, mute);
    expect(task).toMatchObject({ status: "working" });
    expect(task.statusMessage).toMatch(/^waits for a person: owner is asked "Go on/);
    expect(task).not.toHaveProperty("inputRequests");
  });

  test("a task is cancelled, and one that has ended stays as it is", async () => {
    const { taskId } = await agent.call("run_program", { program: waiting });
    expect((await get(taskId)).statusMessage).toMatch(/^pause: waits until /);
    const ack = await agent.request("tasks/cancel", { taskId });
    expect(Object.keys(ack.result).toSorted()).toEqual(["_meta", "resultType"]);
    expect(await taskOnce("cancelled", taskId)).not.toHaveProperty("result");
    expect((await agent.request("tasks/cancel", { taskId })).result).toMatchObject({ resultType: "complete" });
  });

  test("a job that an approval waits for, or a confirmation of its own call, is none of its client's to answer", async () => {
    const drop = { id: "drop", call: "sales_crm.delete_deal", entity: "ann", args: { deal_id: 1, confirm: true } };
    const { taskId } = await agent.call("run_program", { program: { version: 1, title: "Drops", steps: [drop] } });
    const task = await get(taskId);
    expect(task).toMatchObject({ status: "working" });
    expect(task.statusMessage).toContain("Approve the plan");
    const { asks } = (await svc.call("svc.v1.JobsService/ListAsks", { jobId: taskId })).json;
    await answer({ [asks[0].requestId]: { action: "accept", content: { continuation: "proceed" } } }, taskId);
    const { ask } = (await svc.call("svc.v1.JobsService/GetAsk", { requestId: asks[0].requestId })).json;
    expect(ask.state).toBe("ASK_STATE_PENDING");
    await svc.call("svc.v1.JobsService/CancelJob", { id: taskId });
  });

  test("who does not say that it knows tasks is told what is missing, and an unknown task is none", async () => {
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const missing = { requiredCapabilities: { extensions: taskCapabilities.extensions } };
      const { error } = await plain.request(method, { taskId: "job_x", inputResponses: {} });
      expect(error).toMatchObject({ code: -32_021, data: missing });
      const unknown = await agent.request(method, { taskId: "job_00000000000000000000000000", inputResponses: {} });
      expect(unknown.error).toEqual({ code: -32_602, message: "Task not found" });
    }
  });

  test("a task of another project is none", async () => {
    const { taskId } = await agent.call("run_program", { program: waiting });
    const { project } = (await svc.admin("CreateProject", { name: "other" })).json;
    const made = await svc.admin("CreateApiKey", { projectId: project.id, role: "ROLE_APPROVER", name: "theirs" });
    const theirs = createTestMcpClient({ url: svc.url, key: made.json.key, capabilities: taskCapabilities });
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"])
      expect((await theirs.request(method, { taskId, inputResponses: {} })).error.message).toBe("Task not found");
    expect((await get(taskId)).status).toBe("working");
    await agent.request("tasks/cancel", { taskId });
  });
});
