import { letIn, registerAgent } from "@svc/testing/agent";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DeskWorld, deleteNote, deleting, reading, sendNote, startDeskWorld, writing } from "./confirm-desk.ts";
import { callMcp } from "./confirm-world.ts";

// Attempts to have a call sent that another person must confirm. Each is tried against an app that records every request.

let world: DeskWorld;
/** A member's key, with which the attempts are made. `other` keys belong to another person, whose answer counts. */
let member: string;
let person: string;

const json = JSON.stringify;
const destructive = { person: "destructive", contact: "lead" };
const byCaller = { status: 403, reason: "CONFIRM_BY_CALLER" };
const saga = { on: ["failed", "aborted", "cancelled"] };
let counter = 0;
const fresh = (name = "n") => {
  counter += 1;
  return `${name}${counter}`;
};

beforeAll(async () => {
  world = await startDeskWorld();
  member = await world.createKey("member");
  person = await world.createKey("person");
}, 60_000);
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(async () => {
  await world.setPolicy({ person: "never" });
  world.written.length = 0;
});

/** Tries everything that a member can do to continue a job about which a person is asked. */
async function pressOn(id: string): Promise<void> {
  await world.answer(id, "proceed", member);
  await world.tried("JobsService/ResumeJob", { id }, member);
  await world.tried("JobsService/RetryJob", { id }, member);
}

describe("1. one hand with several keys", () => {
  /** Gives a grant for MCP with a key, and returns its token. */
  async function grantOf(key: string): Promise<string> {
    const agent = await registerAgent(world.svc.url);
    const by = { url: world.svc.url, key };
    const code = (await letIn(by, agent, { access: ["read", "write", "destructive"] })).get("code") ?? "";
    return (await agent.change(code)).json.access_token;
  }
  const callAs = async (token: string) => {
    const args = { slug: deleteNote, entity_id: "ada", arguments: { id: fresh(), confirm: true } };
    const params = { name: "call_tool", arguments: args };
    return (await callMcp(world.svc.url, token, params, { capabilities: {} })).structuredContent;
  };

  test("a key does not confirm what a grant of its own calls under the project's rule", async () => {
    const token = await grantOf(member);
    await world.setPolicy(destructive);
    const { outcome, jobId } = await callAs(token);
    expect(outcome).toBe("held");
    expect(await world.answer(jobId, "proceed", member)).toMatchObject(byCaller);
    const link = { jobId, principalId: "lead" };
    expect(await world.tried("JobsService/CreateAnswerLink", link, member)).toMatchObject(byCaller);
    expect(world.deletions()).toBe(0);
    expect((await world.answer(jobId, "proceed", person)).status).toBe(200);
    await world.reach(jobId, "SUCCEEDED");
    expect(world.deletions()).toBe(1);
  });

  test("a grant does not confirm what its key, or another grant of that, calls", async () => {
    const [one, other] = [await grantOf(member), await grantOf(member)];
    await world.setPolicy(destructive);
    const call = { toolSlug: deleteNote, entityId: "ada", argumentsJson: json({ id: fresh(), confirm: true }) };
    const ofKey = (await world.made("ToolsService/CallTool", call, member)).jobId;
    const ofGrant = (await callAs(one)).jobId;
    for (const id of [ofKey, ofGrant]) {
      const yes = { [id]: { action: "accept", content: { continuation: "proceed" } } };
      await callMcp(world.svc.url, other, { taskId: id, name: "x", inputResponses: yes });
      await world.answer(id, "proceed", member);
      expect((await world.job(id)).status).toBe("JOB_STATUS_PENDING_PLAN_APPROVAL");
    }
    expect(world.deletions()).toBe(0);
  });

  test("who tries another's job again does not confirm it, nor does who submitted it", async () => {
    const other = await world.createKey("other");
    const id = await world.submit(member, [deleting(fresh()), writing("fail")]);
    await world.reach(id, "FAILED");
    world.written.length = 0;
    await world.setPolicy(destructive);
    await world.made("JobsService/RetryJob", { id }, other);
    await world.asked(id);
    expect(await world.answer(id, "proceed", member)).toMatchObject(byCaller);
    expect(await world.answer(id, "proceed", other)).toMatchObject(byCaller);
    expect((await world.answer(id, "proceed", person)).status).toBe(200);
  });
});

describe("2. a client that answers its own form", () => {
  const params = (id: string) => ({
    name: "call_tool",
    arguments: { slug: deleteNote, entity_id: "ada", arguments: { id, confirm: true } },
  });
  const yes = { inputResponses: { confirm: { action: "accept", content: { confirm: true } } } };
  const elicited = { ...destructive, elicitation: true };

  test("is not given one unless the policy says so", async () => {
    await world.setPolicy(destructive);
    const asked = await callMcp(world.svc.url, member, params(fresh()));
    expect(asked.resultType).not.toBe("input_required");
    expect(asked.structuredContent).toMatchObject({ outcome: "held", jobId: expect.stringMatching(/^job_/) });
    expect(world.deletions()).toBe(0);
  });

  test("is given one where the policy lets it, and no more once it does not", async () => {
    await world.setPolicy(elicited);
    const id = fresh();
    const asked = await callMcp(world.svc.url, member, params(id));
    expect(asked.resultType).toBe("input_required");
    await world.setPolicy(destructive);
    const late = await callMcp(world.svc.url, member, { ...params(id), ...yes, requestState: asked.requestState });
    expect(late.structuredContent).toMatchObject({ outcome: "held" });
    expect(world.deletions()).toBe(0);
  });

  test("is given none where one of two rules lets it: the project's or the key's", async () => {
    const strict = await world.createKey("strict", { confirm: destructive });
    const loose = await world.createKey("loose", { confirm: elicited });
    await world.setPolicy(elicited);
    expect((await callMcp(world.svc.url, strict, params(fresh()))).resultType).not.toBe("input_required");
    expect((await callMcp(world.svc.url, loose, params(fresh()))).resultType).toBe("input_required");
    await world.setPolicy(destructive);
    expect((await callMcp(world.svc.url, loose, params(fresh()))).resultType).not.toBe("input_required");
    expect(world.deletions()).toBe(0);
  });
});

describe("3. calls that undo", () => {
  const undone = () => ({ ...reading("s"), undo: { call: deleteNote, args: { id: fresh("u"), confirm: true } } });
  const failing = { id: "f", call: sendNote, entity: "ada", args: { text: "fail" } };

  test.each([
    ["a read", () => [undone(), failing]],
    ["a write", () => [{ ...undone(), ...writing("a", "s") }, failing]],
  ])("of %s are confirmed and approved with the program, and count among its classes", async (_what, steps) => {
    const program = { version: 1, title: "T", saga, steps: steps() };
    const checked = await world.made("JobsService/CheckProgram", { programJson: json(program) }, member);
    expect(checked.estimate.accessClasses).toContain("destructive");
    const refused = await world.tried("JobsService/SubmitJob", { programJson: json(program) }, member);
    expect(refused).toMatchObject({ reason: "APPROVER_ROLE_REQUIRED" });
    await world.setPolicy(destructive);
    const id = await world.submit(member, program.steps, { saga });
    await world.asked(id);
    await pressOn(id);
    expect(world.written).toEqual([]);
  });

  test("of a skill that only reads are confirmed with the call of the skill, and with a program that runs it", async () => {
    const name = fresh("look");
    const slug = `skills.${name}`;
    const inputSchema = { type: "object", additionalProperties: false, properties: { x: { type: "string" } } };
    const saved = await world.submit(member, [undone()], { saga, inputSchema, input: {} });
    await world.reach(saved, "SUCCEEDED");
    await world.made("JobsService/PromoteJob", { jobId: saved, slug: name, description: "Looks at items." }, member);
    const { skill } = await world.made("JobsService/GetSkill", { slug: name }, member);
    expect(skill.accessClass).toBe("destructive");
    await world.setPolicy(destructive);
    const call = { toolSlug: slug, argumentsJson: json({ confirm: true }) };
    const called = await world.made("ToolsService/CallTool", call, member);
    const ofSkill = JSON.parse(called.resultJson).job_id;
    await world.asked(ofSkill);
    const steps = [{ id: "k", run: slug, input: {} }, failing];
    const ofProgram = await world.submit(member, steps, { saga });
    await world.asked(ofProgram);
    await pressOn(ofProgram);
    expect(world.written).toEqual([]);
    expect((await world.answer(ofProgram, "proceed", person)).status).toBe(200);
    await world.reach(ofProgram, "FAILED");
    expect(world.deletions()).toBe(1);
  });

  test("are asked about where the policy comes before they are made, and no is the end of it", async () => {
    const steps = [
      { ...undone(), ...writing("a", "s") },
      { id: "wait", wait: "1h" },
    ];
    const begin = async () => {
      const id = await world.submit(member, steps, { saga });
      await until(async () => (await world.job(id)).park?.reason === "wait", "the wait");
      return id;
    };
    const [one, other] = [await begin(), await begin()];
    await world.setPolicy(destructive);
    for (const id of [one, other]) {
      await world.made("JobsService/CancelJob", { id }, member);
      await world.asked(id);
      await pressOn(id);
    }
    expect(world.deletions()).toBe(0);
    await world.answer(one, "abort", person);
    await world.reach(one, "CANCELLED");
    await world.answer(other, "proceed", person);
    await world.reach(other, "CANCELLED");
    expect(world.deletions()).toBe(1);
  });
});

describe("4. what changes after the answer", () => {
  const answerSchema = {
    ...{ type: "object", additionalProperties: false },
    properties: { note: { type: "string" }, id: { type: "string" } },
  };
  const sure = (target: string, properties: object) => ({
    sure: {
      ...{ question: "Sure?", continuations: ["proceed", "retry-with", "abort"] },
      ...{ escalation: [{ principal: "lead" }], overrides: { target, rerunFrom: "r" } },
      answerSchema: { ...answerSchema, properties },
    },
  });
  const judged = { id: "j", judge: "sure" };
  const atJudge = (id: string) =>
    until(async () => (await world.job(id)).park?.judgment?.pointId === "sure", `${id} at the judge`);

  test.each([
    ["params", sure("params", { note: { type: "string" } }), { note: "other" }],
    ["arguments", sure("steps.r.args", { id: { type: "string" } }), { id: "other" }],
  ])("%s by an answer: the job asks again, and not the hand that changed them", async (_what, points, overrides) => {
    await world.setPolicy(destructive);
    const more = { params: { note: "first" }, points };
    const found = { id: "r", call: "desk.get_item", entity: "ada", args: { id: { $ref: "params.note" } } };
    const id = await world.submit(member, [found, judged, deleting({ $ref: "steps.r.id" })], more);
    await world.answer(id, "proceed", person);
    await atJudge(id);
    const answered = await world.answer(id, "retry-with", member, { overridesJson: json(overrides) });
    expect(answered.status).toBe(200);
    await world.asked(id);
    await pressOn(id);
    expect((await world.answer(id, "proceed", person)).status).toBe(200);
    await atJudge(id);
    expect(world.deletions()).toBe(0);
    // If nothing has changed, the confirmation stays valid.
    await world.answer(id, "proceed", member);
    await world.reach(id, "SUCCEEDED");
    expect(world.written.map(({ path }) => path)).toEqual(["/notes/other"]);
  });

  test("by the answer of a key with a rule of its own, in the job of one without: that rule holds", async () => {
    const ruled = await world.createKey("ruled", { confirm: destructive });
    const more = { params: { note: "first" }, points: sure("params", { note: { type: "string" } }) };
    const id = await world.submit(person, [reading(), judged, deleting({ $ref: "params.note" })], more);
    await atJudge(id);
    await world.answer(id, "retry-with", ruled, { overridesJson: json({ note: "other" }) });
    await world.asked(id);
    expect(await world.answer(id, "proceed", ruled)).toMatchObject(byCaller);
    expect(world.deletions()).toBe(0);
  });

  test.each([
    ["waits", async (id: string) => until(async () => (await world.job(id)).park?.reason === "wait", id)],
    ["is paused", async (id: string) => void (await world.made("JobsService/PauseJob", { id }, member))],
  ])("a policy that comes while a job %s: the job is asked about before it goes on", async (_what, hold) => {
    const steps = [writing("a"), { id: "wait", wait: "1s" }, deleting(fresh())];
    const id = await world.submit(member, steps);
    await hold(id);
    await world.setPolicy(destructive);
    await world.tried("JobsService/ResumeJob", { id }, member);
    await world.asked(id);
    await pressOn(id);
    expect(world.deletions()).toBe(0);
    expect((await world.answer(id, "proceed", person)).status).toBe(200);
    await world.reach(id, "SUCCEEDED");
    expect(world.deletions()).toBe(1);
  });

  test("a policy that comes while a skill waits in a program: the skill's job is asked about", async () => {
    const name = fresh("drop");
    const inputSchema = { type: "object", additionalProperties: false, properties: { note: { type: "string" } } };
    const steps = [{ id: "wait", wait: "1s" }, deleting({ $ref: "input.note" })];
    const saved = await world.submit(member, steps, { inputSchema, input: { note: "a" } });
    await world.reach(saved, "SUCCEEDED");
    await world.made("JobsService/PromoteJob", { jobId: saved, slug: name, description: "Drops a note." }, member);
    world.written.length = 0;
    const id = await world.submit(member, [{ id: "k", run: `skills.${name}`, input: { note: "b" } }]);
    await until(async () => (await world.job(id)).park?.reason === "child" || (await childOf(id)) !== "");
    await world.setPolicy(destructive);
    await until(
      async () => (await childOf(id)) !== "" && (await world.job(await childOf(id))).park?.judgment !== undefined,
    );
    const child = await childOf(id);
    expect(await world.answer(child, "proceed", member)).toMatchObject(byCaller);
    expect(world.deletions()).toBe(0);
    await world.answer(child, "proceed", person);
    await until(() => world.deletions() === 1);
  });

  /** Returns the child job that runs a skill. Empty while there is none. */
  async function childOf(id: string): Promise<string> {
    const { jobs } = await world.made("JobsService/ListJobs", { parentJobId: id }, world.svc.key);
    return jobs.find(({ parentJobId }: { parentJobId: string }) => parentJobId === id)?.id ?? "";
  }
});

describe("5. a contact that is told by a tool", () => {
  const writes = { person: "writes", contact: "lead" };
  // Only approvers may change contacts.
  let approver: string;
  beforeAll(async () => {
    approver = await world.createKey("approver", { role: "ROLE_APPROVER" });
  });
  const put = (principalId: string, bearer: string) => {
    const reach = { toolSlug: sendNote, entityId: "ada", argsJson: json({ text: `to ${principalId}: {question}` }) };
    return world.tried("ContactsService/PutContact", { contact: { principalId, name: "C", reach } }, bearer);
  };
  const asking = (principal: string) => ({
    steps: [{ id: "j", judge: "sure" }],
    points: { sure: { question: "Sure?", continuations: ["proceed"], escalation: [{ principal }] } },
  });
  const ask = async (principal: string, bearer: string) => {
    const { steps, points } = asking(principal);
    return world.submit(bearer, steps, { points });
  };
  const failed = (id: string) =>
    until(async () => {
      const { events } = await world.made("JobsService/ListJobEvents", { jobId: id }, world.svc.key);
      return json(events).includes("held");
    }, "the reach is held");

  test("is not put so by a key whose writes a person confirms", async () => {
    await world.setPolicy(writes);
    expect(await put(fresh("c"), approver)).toMatchObject({ status: 400, reason: "REACH_TOOL_UNSUITABLE" });
    await world.setPolicy(destructive);
    expect((await put(fresh("c"), approver)).status).toBe(200);
  });

  test("is told nothing where the hand that put it has the question asked", async () => {
    const contact = fresh("c");
    expect((await put(contact, approver)).status).toBe(200);
    await world.setPolicy(writes);
    const id = await ask(contact, approver);
    await failed(id);
    expect(world.written).toEqual([]);
    expect(await world.made("JobsService/ListJobs", { pageSize: 1 }, member)).toMatchObject({ jobs: [{ id }] });
  });

  test("is told where another hand put it, which confirmed it so, and where no rule covers the tool", async () => {
    const [theirs, own] = [fresh("c"), fresh("c")];
    await put(theirs, world.svc.key);
    await put(own, approver);
    await ask(own, approver);
    await until(() => world.written.some(({ text }) => text.startsWith(`to ${own}`)));
    await world.setPolicy(writes);
    await ask(theirs, approver);
    await until(() => world.written.some(({ text }) => text.startsWith(`to ${theirs}`)));
  });
});

test("a rule that begins while branches run asks before a branch deletes, although another branch waits", async () => {
  const deletions = world.deletions();
  const branches = { one: [{ id: "pause", wait: "1h" }], two: [writing("slow"), deleting("n77")] };
  const id = await world.submit(member, [{ id: "both", parallel: branches }]);
  await until(() => world.written.some(({ text }) => text === "slow"));
  await world.setPolicy(destructive);
  world.answerSlow();
  await world.asked(id);
  expect(world.deletions()).toBe(deletions);
  expect((await world.answer(id, "proceed", person)).status).toBe(200);
  await until(() => world.deletions() === deletions + 1);
});
