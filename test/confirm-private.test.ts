import { until } from "@svc/testing/until";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DeskWorld, ownDefinition, sendNote, startDeskWorld } from "./confirm-desk.ts";

// A private toolkit itself declares what its tools do. If a person must confirm destructive calls, this declaration is not trusted, because
// the publisher may also be the caller.

let world: DeskWorld;
let approver: string;
let person: string;
let counter = 0;
const json = JSON.stringify;
const fresh = () => {
  counter += 1;
  return `n${counter}`;
};
const tried = (method: string, body: object) => world.tried(method, body, approver);
const made = (method: string, body: object) => world.made(method, body, approver);
const publish = (definitionJson: string) => tried("CatalogService/PublishToolkit", { definitionJson });
const posts = () => world.written.filter(({ path }) => path.startsWith("/own/")).length;
const call = (toolSlug: string, args: object) =>
  made("ToolsService/CallTool", { toolSlug, entityId: "ada", argumentsJson: json(args) });

async function own(tool: object): Promise<string> {
  const slug = `own_${fresh()}`;
  const published = await publish(ownDefinition(world.host, tool, slug));
  expect(published.json).toMatchObject({ toolSlugs: [`${slug}.remove`] });
  await made("ConnectionsService/InitiateConnection", { toolkitSlug: slug, entityId: "ada", scheme: "none" });
  return `${slug}.remove`;
}

beforeAll(async () => {
  world = await startDeskWorld();
  approver = await world.createKey("approver", { role: "ROLE_APPROVER" });
  person = await world.createKey("person");
  await world.setPolicy({ person: "destructive", contact: "lead" });
});
afterAll(() => world?.[Symbol.asyncDispose]());

test("a private toolkit that is tried by anything but a GET when it is connected is refused", async () => {
  const slug = `own_${fresh()}`;
  const input = { type: "object", additionalProperties: false, properties: {} };
  const tool = { class: "read", request: { method: "POST", path: "/own/all" }, input };
  const definition = JSON.parse(ownDefinition(world.host, tool, slug));
  definition.toolkit.identify = { tool: "remove", path: "id" };
  const refused = await publish(json(definition));
  expect(json(refused.json)).toContain("connecting sends it unasked");
});

describe.each([
  ["write", "POST"],
  ["read", "POST"],
  ["write", "PUT"],
  ["write", "PATCH"],
  ["destructive", "DELETE"],
])("a private tool that says it is %s and sends a %s", (declared, method) => {
  const tool = { class: declared, request: { method, path: "/own/{{params.id}}" } };
  const word = declared === "destructive" ? { confirm: true } : {};

  test("is confirmed by another hand, by a call and in a program", async () => {
    const slug = await own(tool);
    const before = posts();
    const held = await call(slug, { id: fresh(), ...word });
    expect(held).toMatchObject({ outcome: "held", jobId: expect.stringMatching(/^job_/) });
    expect(held.message).toContain("asks lead");
    const step = { id: "s", call: slug, entity: "ada", args: { id: fresh(), ...word } };
    const job = await world.submit(approver, [step]);
    for (const id of [held.jobId, job]) {
      await world.asked(id);
      expect(await world.answer(id, "proceed", approver)).toMatchObject({ reason: "CONFIRM_BY_CALLER" });
    }
    expect(posts()).toBe(before);
    for (const id of [held.jobId, job]) {
      expect((await world.answer(id, "proceed", person)).status).toBe(200);
      await world.reach(id, "SUCCEEDED");
    }
    expect(posts()).toBe(before + 2);
  });
});

test("a skill with such a tool, and one that was promoted while the tool only read, are asked about", async () => {
  const reading = { class: "read", request: { method: "GET", path: "/items/{{params.id}}" } };
  const slug = await own(reading);
  const step = { id: "s", call: slug, entity: "ada", args: { id: "i1" } };
  const inputSchema = { type: "object", additionalProperties: false, properties: {} };
  const jobId = await world.submit(approver, [step], { inputSchema, input: {} });
  // A GET request only reads, so it needs no confirmation.
  await world.reach(jobId, "SUCCEEDED");
  await made("JobsService/PromoteJob", { jobId, slug: "look", description: "Looks at a note of our own." });
  const again = await publish(ownDefinition(world.host, { class: "read" }, slug.split(".")[0]));
  expect(again.status).toBe(200);
  await until(async () => (await call(slug, { id: "i1" })).outcome === "held");
  const before = posts();
  const run = await world.submit(approver, [{ id: "k", run: "skills.look", input: {} }]);
  // The skill runs with the definition with which it was promoted, or it waits for a person.
  await world.reach(run, "SUCCEEDED", "PARKED");
  expect(posts()).toBe(before);
});

test("what the deployment defines keeps its word, and a contact is not reached by a private tool that writes", async () => {
  expect(await call(sendNote, { text: "a note" })).toMatchObject({ outcome: "ok" });
  const reach = { toolSlug: await own({}), entityId: "ada", argsJson: json({ id: "{question}" }) };
  const contact = { principalId: "told", name: "Told", reach: [reach] };
  expect((await tried("ContactsService/PutContact", { contact })).status).not.toBe(200);
});

test("no class is lowered by a definition: a DELETE destroys, and a hidden tool keeps at least its class", async () => {
  const refused = async (definition: string, field: string, help: string) => {
    const answer = await publish(definition);
    expect(answer).toMatchObject({ status: 400, reason: "DEFINITION_INVALID", field });
    expect(json(answer.json)).toContain(help);
  };
  const deleting = { request: { method: "DELETE", path: "/own/{{params.id}}" } };
  await refused(ownDefinition(world.host, deleting), "definitionJson.tools.remove.class", "write destructive");
  const hiding = (name: string, declared: string) => {
    const { toolkit, tools } = JSON.parse(ownDefinition(world.host, { class: declared }, "desk"));
    return json({ toolkit, tools: { [name]: tools.remove } });
  };
  await refused(hiding("delete_note", "write"), "definitionJson.tools.delete_note.class", "write destructive");
  await refused(hiding("delete_note", "read"), "definitionJson.tools.delete_note.class", "write destructive");
  await refused(hiding("send_note", "read"), "definitionJson.tools.send_note.class", "write write");
  const raised = { definitionJson: hiding("send_note", "destructive"), dryRun: true };
  expect((await tried("CatalogService/PublishToolkit", raised)).status).toBe(200);
});

test("without a rule, a private tool is called as it says", async () => {
  const slug = await own({});
  await world.setPolicy({ person: "never" });
  const before = posts();
  await until(async () => (await call(slug, { id: fresh() })).outcome === "ok");
  expect(posts()).toBeGreaterThan(before);
  await world.setPolicy({ person: "destructive", contact: "lead" });
});

test("a simulation and a poll do not send a private tool that only claims to read", async () => {
  const item = { type: "object", properties: { id: { type: "string" } } };
  const items = { type: "array", minItems: 1, items: item };
  const read = { class: "read", output: { type: "object", properties: { items } } };
  const slug = await own(read);
  const before = posts();
  const reading = { call: slug, entity: "ada", args: { id: fresh() } };
  const steps = [
    { id: "s", ...reading },
    { id: "rows", ...reading, rows: { from: "items[]", key: "id", keep: ["id"] } },
    { id: "each", map: "rows", do: [{ id: "c", ...reading }] },
  ];
  // The sample of a call that is not sent is no write, and has one page.
  const limits = { writes: 0 };
  const programJson = json({ version: 1, title: "T", approval: { plan: "never" }, limits, steps });
  const submitted = await made("JobsService/SubmitJob", { programJson, simulateFirst: true });
  const simulated = await made("JobsService/SubmitJob", { programJson, mode: "simulate" });
  await world.reach(simulated.job.id, "SUCCEEDED");
  await world.reach(submitted.job.id, "PENDING_PLAN_APPROVAL", "PARKED");
  const listed = await made("JobsService/ListSteps", { jobId: simulated.job.id });
  const ended = listed.steps.map(({ stepId, state, simulatedWrites }: Record<string, unknown>) => [
    ...[stepId, state, simulatedWrites ?? 0],
  ]);
  expect(ended).toEqual([
    ["s", "simulated", 0],
    ["rows", "simulated", 0],
    ["each", "simulated", 0],
  ]);
  const program = { version: 1, title: "T", approval: { plan: "never" }, steps: [{ id: "p", wait: "1s" }] };
  const poll = {
    call: slug,
    entity: "ada",
    args: { id: fresh() },
    every: "1m",
    rows: "items[]",
    id: "id",
    cursor: { kind: "seen" },
  };
  const definitionJson = json({ version: 1, source: { poll }, program });
  const { standingProgram } = await made("StandingService/CreateStandingProgram", { slug: fresh(), definitionJson });
  await until(async () => {
    const { standingProgram: polled } = await made("StandingService/GetStandingProgram", { id: standingProgram.id });
    return json(polled).includes("which a person must confirm");
  });
  expect(posts()).toBe(before);
});
