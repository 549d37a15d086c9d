import { letIn, registerAgent, type TestAgent } from "@svc/testing/agent";
import { signInToConsole } from "@svc/testing/console-session";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ConfirmWorld, callMcp, deleteDeal, startConfirmWorld } from "./confirm-world.ts";

// Tests of `confirm: person` of a key and of a grant. The policy of the project itself requires no confirmation, unless a test changes it.

let world: ConfirmWorld;
let agentKey: string;
let personKey: string;

const json = JSON.stringify;
const confirm = { person: "destructive", contact: "lead" };
let deal = 100;

beforeAll(async () => {
  world = await startConfirmWorld();
  agentKey = await world.createKey("agent", { confirm });
  personKey = await world.createKey("person");
  await world.made("ContactsService/PutContact", { contact: { principalId: "boss", name: "Boss" } });
});
afterAll(() => world?.svc.stop());
beforeEach(async () => {
  deal += 1;
  await setPolicy({ person: "never" });
  await world.deleted();
});

const setPolicy = (of: object) => world.svc.admin("SetProjectPolicy", { projectId: world.projectId, confirm: of });
const deleting = () => ({
  ...{ toolSlug: deleteDeal, entityId: "ada" },
  argumentsJson: json({ deal_id: deal, confirm: true }),
});
const program = (more: object = {}) =>
  json({
    ...{ version: 1, title: "Clean up", approval: { plan: "never" } },
    steps: [{ id: "s", call: deleteDeal, entity: "ada", args: { deal_id: deal, confirm: true } }],
    ...more,
  });
const call = (body: object, bearer: string) => world.made("ToolsService/CallTool", body, bearer);
const jobOf = async (id: string) => (await world.made("JobsService/GetJob", { id })).job;
const contactOf = async (jobId: string) =>
  (await world.made("JobsService/ListAsks", { jobId })).asks[0].escalation[0].principalId;

describe("a key with a rule of its own", () => {
  test("has its destructive calls confirmed by its contact, once; other keys of the project confirm by themselves", async () => {
    const held = await call(deleting(), agentKey);
    expect(held).toMatchObject({ outcome: "held", jobId: expect.stringMatching(/^job_/) });
    expect(held.message).toContain("asks lead");
    expect(await world.answer(held.jobId, "proceed", agentKey)).toMatchObject({ reason: "CONFIRM_BY_CALLER" });
    expect(await world.deleted()).toBe(0);
    await world.answer(held.jobId, "proceed", personKey);
    await world.ended(held.jobId, "JOB_STATUS_SUCCEEDED");
    expect(await world.deleted()).toBe(1);
    expect((await call(deleting(), agentKey)).jobId).not.toBe(held.jobId);
    deal += 500;
    expect(await call(deleting(), personKey)).toMatchObject({ outcome: "ok" });
  });

  test("shows its rule to whoever reads keys, and is refused a rule that there is not", async () => {
    const { apiKeys } = (await world.svc.admin("ListApiKeys", { projectId: world.projectId })).json;
    expect(apiKeys.find(({ name }: { name: string }) => name === "agent").confirm).toEqual(confirm);
    expect((await world.made("IdentityService/GetIdentity", {}, agentKey)).confirm).toEqual(confirm);
    const create = { projectId: world.projectId, role: "ROLE_MEMBER", name: "wrong" };
    for (const wrong of [{ person: "always" }, { person: "writes" }, { person: "writes", contact: "nobody" }]) {
      const refused = await world.svc.admin("CreateApiKey", { ...create, confirm: wrong });
      expect(refused).toMatchObject({ code: "invalid_argument", reason: "CONFIRM_INVALID" });
    }
  });

  test("the stricter of its rule and the policy holds, and the policy says who is asked where both say it", async () => {
    const writer = await world.createKey("writer", { confirm: { person: "writes", contact: "lead" } });
    const write = () => ({
      ...{ toolSlug: "sales_crm.create_deal", entityId: "ada" },
      argumentsJson: json({ title: `d${deal}` }),
    });
    await setPolicy({ person: "destructive", contact: "boss" });
    await until(async () => (await call(deleting(), personKey)).outcome === "held");
    expect(await contactOf((await call(write(), writer)).jobId)).toBe("lead");
    expect(await contactOf((await call(deleting(), writer)).jobId)).toBe("boss");
    expect(await call(write(), personKey)).toMatchObject({ outcome: "ok" });
    await setPolicy({ person: "writes", contact: "boss" });
    await until(async () => (await call(write(), personKey)).outcome === "held");
    expect(await contactOf((await call(write(), agentKey)).jobId)).toBe("boss");
  });

  test.each([
    ["a program", async () => (await world.made("JobsService/SubmitJob", { programJson: program() }, agentKey)).job.id],
    [
      "a program that another key ran, run again",
      async () => {
        const { job } = await world.made("JobsService/SubmitJob", { programJson: program() }, personKey);
        await world.ended(job.id, "JOB_STATUS_SUCCEEDED");
        expect(await world.deleted()).toBe(1);
        return (await world.made("JobsService/RerunJob", { id: job.id }, agentKey)).job.id;
      },
    ],
    ["a run of its standing program", () => standingJob(agentKey, world.svc.key)],
    ["its run of another's standing program", () => standingJob(world.svc.key, agentKey)],
  ])("%s is asked about once, whole, before it begins", async (_what, begin) => {
    const id = await begin();
    await until(async () => (await jobOf(id)).park?.judgment?.pointId === "confirm");
    expect(await contactOf(id)).toBe("lead");
    expect(await world.answer(id, "proceed", agentKey)).toMatchObject({ reason: "CONFIRM_BY_CALLER" });
    expect(await world.deleted()).toBe(0);
    expect((await world.answer(id, "proceed", personKey)).status).toBe(200);
    // The deal was already deleted, so it is not deleted again, but the call was made.
    await until(async () => /SUCCEEDED|FAILED/.test((await jobOf(id)).status));
    expect(await world.deleted()).toBe(1);
  });

  async function standingJob(owner: string, runner: string): Promise<string> {
    const definitionJson = json({ version: 1, source: { schedule: { every: "1d" } }, program: JSON.parse(program()) });
    const standing = { slug: `clean_${deal}`, definitionJson };
    const { standingProgram } = await world.made("StandingService/CreateStandingProgram", standing, owner);
    await world.made("StandingService/RunStandingProgram", { id: standingProgram.id }, runner);
    const list = { standingProgramId: standingProgram.id };
    let jobs: { id: string }[] = [];
    await until(async () => {
      ({ jobs } = await world.made("JobsService/ListJobs", list));
      return jobs.length === 1;
    });
    return jobs[0]?.id ?? "";
  }
});

describe("a grant", () => {
  let agent: TestAgent;
  const give = async (key: string) => {
    agent ??= await registerAgent(world.svc.url);
    const by = { url: world.svc.url, key };
    const code = (await letIn(by, agent, { access: ["read", "write", "destructive"] })).get("code") ?? "";
    return (await agent.change(code)).json.access_token as string;
  };
  const calling = () => ({
    ...{ name: "call_tool" },
    arguments: { slug: deleteDeal, entity_id: "ada", arguments: { deal_id: deal, confirm: true } },
  });
  const callAs = (token: string, more: object = {}) =>
    callMcp(world.svc.url, token, { ...calling(), ...more }, { capabilities: {} });
  const newest = async () => (await world.made("GrantsService/ListGrants", {})).grants[0];

  test("is narrowed to have a person confirm, at once and for good, and its key is not the one who answers", async () => {
    const token = await give(world.svc.key);
    expect((await callAs(token)).structuredContent).toMatchObject({ outcome: "ok" });
    const { id } = await newest();
    const narrow = (of: object) =>
      world.svc.call("svc.v1.GrantsService/UpdateGrant", { id, confirm: of }, { bearer: world.svc.key });
    expect((await narrow(confirm)).json.grant.confirm).toEqual(confirm);
    await world.deleted();
    deal += 1;
    const held = (await callAs(token)).structuredContent;
    expect(held).toMatchObject({ outcome: "held", jobId: expect.stringMatching(/^job_/) });
    expect(await narrow({ person: "never" })).toMatchObject({ reason: "GRANT_WIDENED", field: "confirm.person" });
    expect(await narrow({ person: "writes", contact: "x" })).toMatchObject({ reason: "CONFIRM_INVALID" });
    expect((await narrow({ person: "writes", contact: "lead" })).json.grant.confirm.person).toBe("writes");
    expect(await world.deleted()).toBe(0);
    // The key that gave the grant belongs to the same person as the grant, whichever rule requires the confirmation.
    const byGiver = await world.answer(held.jobId, "proceed", world.svc.key);
    expect(byGiver).toMatchObject({ status: 403, reason: "CONFIRM_BY_CALLER" });
    expect((await world.answer(held.jobId, "proceed", personKey)).status).toBe(200);
    await world.ended(held.jobId, "JOB_STATUS_SUCCEEDED");
    expect(await world.deleted()).toBe(1);
  });

  test("has the rule of the key that it was given with", async () => {
    const token = await give(agentKey);
    expect((await newest()).confirm).toEqual(confirm);
    const { outcome, jobId } = (await callAs(token)).structuredContent;
    expect(outcome).toBe("held");
    // An agent with such a key gives itself a grant, and tries to confirm its calls with the key: by an answer, a link, a session or a
    // task.
    const byCaller = { status: 403, reason: "CONFIRM_BY_CALLER" };
    expect(await world.answer(jobId, "proceed", agentKey)).toMatchObject(byCaller);
    const link = { jobId, principalId: "lead" };
    const linked = await world.svc.call("svc.v1.JobsService/CreateAnswerLink", link, { bearer: agentKey });
    expect(linked).toMatchObject(byCaller);
    const { url } = await world.made("ConsoleService/CreateSignInLink", {}, agentKey);
    const session = await signInToConsole(world.svc, { link: url.split("#link=")[1] });
    const inConsole = await session.call(session.seats[0]?.keyId ?? "", "svc.v1.JobsService/AnswerAsk", {
      ...link,
      continuation: "proceed",
    });
    expect(inConsole).toMatchObject(byCaller);
    expect(await world.deleted()).toBe(0);
    await world.answer(jobId, "proceed", personKey);
    await world.ended(jobId, "JOB_STATUS_SUCCEEDED");
    expect(await world.deleted()).toBe(1);
  });
});

describe("the state that a client brings back with its user's yes", () => {
  const yes = { inputResponses: { confirm: { action: "accept", content: { confirm: true } } } };
  const asking = (args: object, slug = deleteDeal) => ({
    name: "call_tool",
    arguments: { slug, ...args },
  });
  const elicited = { ...confirm, elicitation: true };
  let clientKey: string;
  beforeAll(async () => {
    clientKey = await world.createKey("client", { confirm: elicited });
  });
  const ask = (params: Record<string, unknown>, bearer = clientKey) => callMcp(world.svc.url, bearer, params);
  const mine = () => ({ entity_id: "ada", arguments: { deal_id: deal } });

  test.each([
    ["other arguments", () => asking({ ...mine(), arguments: { deal_id: deal + 500 } })],
    ["another account", () => asking({ ...mine(), entity_id: "bob" })],
    ["another tool", () => asking({ ...mine(), arguments: { person_id: deal } }, "sales_crm.delete_person")],
    ["an idempotency key", () => asking({ ...mine(), idempotency_key: `k${deal}` })],
  ])("is good for no call with %s, and is spent by it", async (_what, changed) => {
    const asked = await ask(asking(mine()));
    expect(asked.resultType).toBe("input_required");
    const answered = { ...yes, requestState: asked.requestState };
    expect((await ask({ ...changed(), ...answered })).resultType).toBe("input_required");
    expect((await ask({ ...asking(mine()), ...answered })).resultType).toBe("input_required");
    expect(await world.deleted()).toBe(0);
  });

  test("is good for one of many that bring it at once", async () => {
    const { requestState } = await ask(asking(mine()));
    const all = await Promise.all(Array.from({ length: 8 }, () => ask({ ...asking(mine()), ...yes, requestState })));
    expect(all.filter(({ structuredContent }) => structuredContent?.outcome === "ok")).toHaveLength(1);
    expect(await world.deleted()).toBe(1);
  });

  test("is good in no other project, and no part of it can be changed", async () => {
    const { requestState } = await ask(asking(mine()));
    const other = (await world.svc.admin("CreateProject", { name: `other-${deal}` })).json.project.id;
    const contact = { contact: { principalId: "lead", name: "Lead" } };
    const create = { projectId: other, role: "ROLE_APPROVER", name: "other" };
    const approver = (await world.svc.admin("CreateApiKey", create)).json.key;
    await world.made("ContactsService/PutContact", contact, approver);
    const foreign = (await world.svc.admin("CreateApiKey", { ...create, role: "ROLE_MEMBER", confirm: elicited })).json
      .key;
    const account = { toolkitSlug: "sales_crm", entityId: "ada" };
    await world.made("ConnectionsService/InitiateConnection", account, foreign);
    const moved = await ask({ ...asking(mine()), ...yes, requestState }, foreign);
    expect(moved.resultType).toBe("input_required");
    for (const at of [0, Math.floor(requestState.length / 2), requestState.length - 1]) {
      const other = requestState[at] === "A" ? "B" : "A";
      const forged = requestState.slice(0, at) + other + requestState.slice(at + 1);
      expect((await ask({ ...asking(mine()), ...yes, requestState: forged })).resultType).toBe("input_required");
    }
    expect(await world.deleted()).toBe(0);
    // The moved and forged answers did not use up the state of the question.
    const done = await ask({ ...asking(mine()), ...yes, requestState });
    expect(done.structuredContent).toMatchObject({ outcome: "ok" });
  });
});
