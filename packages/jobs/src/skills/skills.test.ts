import { create } from "@bufbuild/protobuf";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { createCatalogService } from "@svc/catalog";
import {
  createId,
  createSealer,
  type KeyId,
  type ProjectId,
  principalContext,
  type Role,
  systemClock,
  uuidOfId,
} from "@svc/core";
import { ListToolkitsRequestSchema } from "@svc/gen/catalog";
import { JobStatus } from "@svc/gen/jobs";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createTestNode, jobOf, programText, type TestNode, type TestProject } from "@svc/testing/jobs-node";
import { refusalsOf } from "@svc/testing/project-client";
import { searchOf } from "@svc/tools";
import { afterAll, beforeAll, expect, test } from "vitest";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const inputSchema = {
  type: "object",
  additionalProperties: false,
  required: ["greeting"],
  properties: {
    greeting: { type: "string", description: "What the note says." },
    mark: { type: "string", default: "!", description: "What stands after it." },
  },
};
const greet = {
  inputSchema,
  input: { greeting: "hello" },
  steps: [
    { id: "send", call: "desk.send_note", entity: "ops", args: { text: { $text: "{input.greeting}{input.mark}" } } },
  ],
};
const remove = {
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["id"],
    properties: { id: { type: "string" } },
  },
  input: { id: "n1" },
  approval: { plan: "never" },
  steps: [{ id: "gone", call: "desk.delete_note", entity: "ops", args: { id: { $ref: "input.id" }, confirm: true } }],
};
const description = "Greets a colleague by leaving a friendly note on the desk.";
const fault = (code: string, reason: string, field: string) => ({ code, details: [{ reason, field }] });

async function succeeded(node: TestNode, { client }: TestProject, program: object): Promise<string> {
  const { id } = jobOf(await client.submitJob({ programJson: programText(program) }));
  await node.reach(id, "succeeded");
  return id;
}

const refuse = () => Promise.reject(new Error("this test imports nothing"));

/** Returns the answer of ListToolkits for a project, by toolkit slug. */
async function listToolkits({ views }: TestNode, { projectId, keyId }: TestProject): Promise<Record<string, unknown>> {
  const sealer = createSealer([{ id: "k1", secret: Buffer.alloc(32, 7) }]);
  const service = createCatalogService({
    ...{ db: database.db, clock: systemClock, views, sealer },
    isOauthRegistered: () => false,
    sandboxMode: "off",
    importer: { convert: refuse, refresh: refuse, merge: refuse, check: refuse },
    mcpEveryMs: 1,
  });
  const values = createContextValues().set(principalContext, { kind: "project", projectId, keyId, role: "member" });
  const request = create(ListToolkitsRequestSchema, { projectId });
  const { toolkits = [] } = await service.listToolkits(request, { values } as HandlerContext);
  return Object.fromEntries(toolkits.map((toolkit) => [toolkit.slug, toolkit]));
}

type CallOptions = { role?: Role; keyId?: KeyId; idempotencyKey?: string; isDryRun?: boolean };

async function call(
  { apps }: TestNode,
  projectId: ProjectId,
  toolSlug: string,
  args: Record<string, unknown>,
  { role = "approver", keyId = createId("key", 1), idempotencyKey, isDryRun = false }: CallOptions = {},
) {
  const who = { projectId, keyId, role };
  const asked = { caller: who, toolSlug, args, entityId: "", accountId: undefined, idempotencyKey, isDryRun };
  const called = await apps.caller.call(asked);
  if (called.outcome !== "answered" && called.outcome !== "held") throw new Error(called.outcome);
  return called.answer;
}

test("PromoteJob refuses what cannot become a skill", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const { client } = project;
  const jobId = await succeeded(node, project, greet);
  const refused = (request: object) => refusalsOf(client.promoteJob({ jobId, slug: "greet", description, ...request }));
  const notPromotable = fault("FailedPrecondition", "JOB_NOT_PROMOTABLE", "jobId");
  expect(await refused({ jobId: createId("job", 1) })).toEqual(fault("NotFound", "JOB_NOT_FOUND", "jobId"));
  for (const slug of ["", "Greet", "1greet", "skills.greet", "g".repeat(64)]) {
    expect(await refused({ slug })).toEqual(fault("InvalidArgument", "SKILL_SLUG_INVALID", "slug"));
  }
  for (const text of ["", "  ", "d".repeat(1001)]) {
    expect(await refused({ description: text })).toEqual(
      fault("InvalidArgument", "SKILL_DESCRIPTION_INVALID", "description"),
    );
  }
  const { inputSchema: _, ...plain } = greet;
  expect(
    await refused({ jobId: await succeeded(node, project, { ...plain, input: { greeting: "a", mark: "b" } }) }),
  ).toEqual(notPromotable);
  const simulated = jobOf(await client.submitJob({ programJson: programText(greet), mode: "simulate" })).id;
  await node.reach(simulated, "succeeded");
  expect(await refused({ jobId: simulated })).toEqual(notPromotable);
  const waiting = { ...greet, steps: [{ id: "pause", wait: "1h" }] };
  const parked = jobOf(await client.submitJob({ programJson: programText(waiting) })).id;
  expect(await refused({ jobId: parked })).toEqual(notPromotable);
  await client.promoteJob({ jobId, slug: "greet", description });
  expect(await refused({})).toEqual(fault("AlreadyExists", "SKILL_SLUG_TAKEN", "slug"));
});

test("a program that was accepted before a rule runs on, and is mended before it becomes a skill", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const jobId = await succeeded(node, project, greet);
  const text = {
    ...greet,
    steps: [{ id: "a", call: "desk.send_note", entity: "ops", args: { text: "{input.name}" } }],
  };
  await database.db.sql`update job_programs set sealed_program = null, program = ${programText(text)}
    where digest = (select program_digest from jobs where id = ${uuidOfId(jobId as Parameters<typeof uuidOfId>[0])})`;
  const promotion = { jobId, slug: "old", description };
  expect(await refusalsOf(project.client.promoteJob(promotion))).toEqual(
    fault("InvalidArgument", "PROGRAM_TEMPLATE_LITERAL", "jobId"),
  );
});

test("a project has a bounded number of skills", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const jobId = await succeeded(node, project, greet);
  await project.client.promoteJob({ jobId, slug: "greet", description });
  await database.db
    .sql`insert into skills (project_id, slug, description, job_id, program_digest, access_class, created_at, input_schema)
    select project_id, 's' || n, description, job_id, program_digest, access_class, created_at, input_schema from skills, generate_series(1, 199) n where project_id = ${uuidOfId(project.projectId)}`;
  expect(await refusalsOf(project.client.promoteJob({ jobId, slug: "more", description }))).toEqual(
    fault("ResourceExhausted", "SKILLS_TOO_MANY", ""),
  );
});

test("a promoted program is a tool of its project at once, and of no other", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const stranger = await node.project();
  await node.views.forProject(project.projectId);
  const jobId = await succeeded(node, project, greet);
  const { tool } = await project.client.promoteJob({ jobId, slug: "greet", description });
  expect(tool).toMatchObject({
    slug: "skills.greet",
    toolkitSlug: "skills",
    kind: 3,
    description,
    accessClass: "write",
    callable: true,
    ownerProjectId: project.projectId,
    inputSchemaJson: JSON.stringify(inputSchema),
  });
  const view = await node.views.forProject(project.projectId);
  expect(view.toolkits.get("skills")).toMatchObject({ category: "developer-infrastructure", auth: [] });
  expect(view.messages.toolsOfToolkit.get("skills")).toEqual([tool]);
  const search = (of: typeof view, kind?: "action" | "code") =>
    searchOf(of)
      .search({ query: "greet a colleague with a friendly note", kind })
      .results.map((found) => found.tool.slug);
  expect(search(view)[0]).toBe("skills.greet");
  expect(search(view, "code")).toEqual(["skills.greet"]);
  expect(search(view, "action")).not.toContain("skills.greet");
  expect(await listToolkits(node, project)).toMatchObject({
    skills: { connectable: false, category: "developer-infrastructure" },
  });
  expect(await listToolkits(node, stranger)).not.toHaveProperty("skills");
  const theirs = await node.views.forProject(stranger.projectId);
  expect(theirs.tools.has("skills.greet")).toBe(false);
  expect(node.views.shared.tools.has("skills.greet")).toBe(false);
  const { events } = await project.client.listJobEvents({ jobId });
  expect(events.at(-1)).toMatchObject({ type: "job-promoted", payloadJson: '{"toolSlug":"skills.greet","version":1}' });
});

test("the tools that a skill calls are found by its title, in its project only, until it is deleted", async () => {
  await using node = createTestNode(database.db);
  const [project, stranger] = [await node.project(), await node.project()];
  const query = "nudge the sleepy gnome";
  const find = async ({ projectId }: TestProject) =>
    searchOf(await node.views.forProject(projectId))
      .search({ query, kind: "action" })
      .results.map(({ tool }) => tool.slug);
  const before = (await node.views.forProject(project.projectId)).tools.get("desk.send_note");
  expect(await find(project)).toEqual([]);
  const jobId = await succeeded(node, project, greet);
  await project.client.promoteJob({ jobId, slug: "nudge_gnome", description: "Nudges a sleepy (gnome|elf)." });
  expect((await find(project))[0]).toBe("desk.send_note");
  expect(await find(stranger)).toEqual([]);
  expect((await node.views.forProject(project.projectId)).tools.get("desk.send_note")).toBe(before);
  await project.client.deleteSkill({ slug: "nudge_gnome" });
  expect(await find(project)).toEqual([]);
});

test("calling a skill submits a job with the arguments as its input", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const { client, projectId, keyId } = project;
  await client.promoteJob({ jobId: await succeeded(node, project, greet), slug: "greet", description });
  const { result, callId } = await call(
    node,
    projectId,
    "skills.greet",
    { greeting: "good day" },
    { role: "member", keyId },
  );
  expect(result).toMatchObject({ outcome: "ok", value: { job_id: expect.stringMatching(/^job_/) } });
  expect(callId).toBeDefined();
  const id = (result.value as { job_id: string }).job_id;
  await node.reach(id, "succeeded");
  expect(node.world.seen.at(-1)?.body).toEqual({ text: "good day!" });
  expect(jobOf(await client.getJob({ id }))).toMatchObject({ skillSlug: "skills.greet", mode: "live" });
  expect((await client.listJobs({ skillSlug: "skills.greet" })).jobs.map((job) => job.id)).toEqual([id]);
  const { events } = await client.listJobEvents({ jobId: id });
  expect(new Set(events.map(({ principalChain }) => principalChain.join(" ")))).toEqual(
    new Set([`key:${keyId} skill:skills.greet`]),
  );
});

test("arguments of a skill are checked, and an idempotency key submits once", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const { client, projectId } = project;
  await client.promoteJob({ jobId: await succeeded(node, project, greet), slug: "greet", description });
  const wrong = await call(node, projectId, "skills.greet", { greeting: 7, extra: true });
  expect(wrong.result).toMatchObject({ outcome: "invalid_arguments" });
  expect(wrong.result.faults).toHaveLength(2);
  expect((await call(node, projectId, "skills.greet", { greeting: "a" }, { isDryRun: true })).result.outcome).toBe(
    "ok",
  );
  expect((await client.listJobs({ skillSlug: "skills.greet" })).jobs).toEqual([]);
  const first = await call(node, projectId, "skills.greet", { greeting: "a" }, { idempotencyKey: "k" });
  const again = await call(node, projectId, "skills.greet", { greeting: "a" }, { idempotencyKey: "k" });
  expect(again).toMatchObject({ isReplay: true, callId: first.callId, result: { value: first.result.value } });
  expect((await client.listJobs({ skillSlug: "skills.greet" })).jobs).toHaveLength(1);
  await expect(call(node, projectId, "skills.greet", { greeting: "b" }, { idempotencyKey: "k" })).rejects.toThrow(
    "key_reused",
  );
});

test("a destructive skill is held until it is confirmed", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const { client, projectId } = project;
  const { tool } = await client.promoteJob({
    jobId: await succeeded(node, project, remove),
    slug: "remove",
    description,
  });
  expect(tool?.accessClass).toBe("destructive");
  expect((await call(node, projectId, "skills.remove", { id: "n2" })).result.outcome).toBe("held");
  expect((await client.listJobs({ skillSlug: "skills.remove" })).jobs).toEqual([]);
  const { result } = await call(node, projectId, "skills.remove", { id: "n2", confirm: true });
  await node.reach((result.value as { job_id: string }).job_id, "succeeded");
  expect(node.world.seen.at(-1)).toMatchObject({ method: "DELETE", path: "/notes/n2" });
});

test("a destructive program whose input takes confirm cannot become a skill", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const properties = { id: { type: "string" }, confirm: { type: "boolean" } };
  const taking = { ...remove, inputSchema: { ...remove.inputSchema, properties } };
  const jobId = await succeeded(node, project, taking);
  expect(await refusalsOf(project.client.promoteJob({ jobId, slug: "remove", description }))).toEqual(
    fault("FailedPrecondition", "JOB_NOT_PROMOTABLE", "jobId"),
  );
});

test("a skill whose plan cannot be submitted is not callable, and says why", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const { client, projectId } = project;
  const { approval: _, ...approved } = remove;
  const { id } = jobOf(await client.submitJob({ programJson: programText(approved) }));
  await client.answerAsk({ jobId: id, principalId: "owner", continuation: "proceed" });
  await node.reach(id, "succeeded");
  await client.promoteJob({ jobId: id, slug: "remove", description });
  const args = { id: "n2", confirm: true };
  const member = await call(node, projectId, "skills.remove", args, { role: "member" });
  expect(member.result).toMatchObject({ outcome: "not_callable", message: expect.stringContaining("approval") });
  const begun = await call(node, projectId, "skills.remove", args);
  const job = jobOf(await client.getJob({ id: (begun.result.value as { job_id: string }).job_id }));
  expect(job.status).toBe(JobStatus.PENDING_PLAN_APPROVAL);
  await database.db.sql`update connected_accounts set state = 'revoked'`;
  expect((await call(node, projectId, "skills.remove", args)).result.outcome).toBe("no_account");
});

test("a program cannot call a skill", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  await project.client.promoteJob({ jobId: await succeeded(node, project, greet), slug: "greet", description });
  const steps = [{ id: "again", call: "skills.greet", entity: "ops", args: { greeting: "x" } }];
  const { details } = await refusalsOf(project.client.submitJob({ programJson: programText({ steps }) }));
  expect(details).toEqual([{ reason: "PROGRAM_TOOL_NOT_CALLABLE", field: "programJson/steps/0/call" }]);
});

test("a skill has versions: the newest is called, a version by its number, and a deleted number means no other", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const { client, projectId } = project;
  const first = await succeeded(node, project, greet);
  await client.promoteJob({ jobId: first, slug: "greet", description });
  const properties = { ...inputSchema.properties, name: { type: "string", default: "Ada" } };
  const args = { text: { $text: "{input.greeting} {input.name}" } };
  const named = { inputSchema: { ...inputSchema, properties }, steps: [{ ...greet.steps[0], args }] };
  const second = await succeeded(node, project, { ...greet, ...named });
  const next = { jobId: second, slug: "greet", description: "Greets by name", newVersion: true };
  expect(await client.promoteJob(next)).toMatchObject({ tool: { slug: "skills.greet" }, version: 2 });
  const said = async (toolSlug: string, input: Record<string, string>) => {
    const { result } = await call(node, projectId, toolSlug, input);
    if (result.outcome !== "ok") return result.outcome;
    const id = (result.value as { job_id: string }).job_id;
    await node.reach(id, "succeeded");
    expect(jobOf(await client.getJob({ id })).skillSlug).toBe("skills.greet");
    return node.world.seen.at(-1)?.body["text"];
  };
  expect(await said("skills.greet", { greeting: "hi" })).toBe("hi Ada");
  expect(await said("skills.greet@2", { greeting: "hi" })).toBe("hi Ada");
  expect(await said("skills.greet@1", { greeting: "hi" })).toBe("hi!");
  expect(await said("skills.greet@1", { greeting: "hi", name: "Bea" })).toBe("invalid_arguments");
  await expect(said("skills.greet@3", { greeting: "hi" })).rejects.toThrow("no_such_tool");
  const listed = async (slug: string) => (await client.listSkills({ slug })).skills.map(({ version }) => version);
  expect([await listed(""), await listed("greet"), await listed("none")]).toEqual([[2], [2, 1], []]);
  expect((await client.getSkill({ slug: "greet" })).skill).toMatchObject({
    version: 2,
    jobId: second,
    toolSlug: "skills.greet",
  });
  expect(JSON.parse((await client.getSkill({ slug: "greet", version: 1 })).skill?.programJson ?? "")).toMatchObject(
    greet,
  );
  await client.deleteSkill({ slug: "greet", version: 2 });
  expect(await said("skills.greet", { greeting: "hi" })).toBe("hi!");
  expect((await client.promoteJob(next)).version).toBe(3);
  await client.deleteSkill({ slug: "greet" });
  expect(await listed("")).toEqual([]);
  expect(await refusalsOf(client.promoteJob(next))).toEqual(fault("NotFound", "SKILL_NOT_FOUND", "slug"));
  expect(await client.promoteJob({ ...next, newVersion: false })).toMatchObject({ version: 4 });
  await expect(said("skills.greet@1", { greeting: "hi" })).rejects.toThrow("no_such_tool");
});

test("a version that does not take what the newest takes is refused with the differences", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const { client } = project;
  await client.promoteJob({ jobId: await succeeded(node, project, greet), slug: "greet", description });
  const narrower = {
    ...inputSchema,
    required: ["greeting", "who"],
    properties: { greeting: { type: "string", maxLength: 5 }, who: { type: "string" } },
  };
  const jobId = await succeeded(node, project, {
    inputSchema: narrower,
    input: { greeting: "hello", who: "Ada" },
    steps: [{ ...greet.steps[0], args: { text: { $ref: "input.greeting" } } }],
  });
  const refused = client.promoteJob({ jobId, slug: "greet", description, newVersion: true });
  await expect(refused).rejects.toThrow(
    "input.greeting has a maxLength of 5; input.mark is no longer taken; input.who is now required",
  );
  expect(await refusalsOf(client.promoteJob({ jobId, slug: "greet", description, newVersion: true }))).toEqual(
    fault("FailedPrecondition", "SKILL_INCOMPATIBLE", "jobId"),
  );
});

test("of promotions at once each makes a version of its own, and skills of another project are missing", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const { client } = await node.project();
  const jobId = await succeeded(node, project, greet);
  await project.client.promoteJob({ jobId, slug: "greet", description });
  const next = { jobId, slug: "greet", description, newVersion: true };
  const made = await Promise.all(Array.from({ length: 5 }, () => project.client.promoteJob(next)));
  expect(made.map(({ version }) => version).sort()).toEqual([2, 3, 4, 5, 6]);
  const page = await project.client.listSkills({ slug: "greet", pageSize: 4 });
  const rest = await project.client.listSkills({ slug: "greet", pageSize: 4, pageToken: page.nextPageToken });
  expect([...page.skills, ...rest.skills].map(({ version }) => version)).toEqual([6, 5, 4, 3, 2, 1]);
  expect((await client.listSkills({})).skills).toEqual([]);
  const missing = fault("NotFound", "SKILL_NOT_FOUND", "slug");
  expect(await refusalsOf(client.getSkill({ slug: "greet" }))).toEqual(missing);
  expect(await refusalsOf(client.deleteSkill({ slug: "greet" }))).toEqual(missing);
});
