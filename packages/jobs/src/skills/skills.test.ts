import { create } from "@bufbuild/protobuf";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { createCatalogService } from "@svc/catalog";
import { createId, createSealer, type KeyId, type ProjectId, principalContext, type Role, uuidOfId } from "@svc/core";
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

/** What ListToolkits answers a project, by slug. */
async function listToolkits({ views }: TestNode, { projectId, keyId }: TestProject): Promise<Record<string, unknown>> {
  const sealer = createSealer([{ id: "k1", secret: Buffer.alloc(32, 7) }]);
  const service = createCatalogService({ views, sealer, isOauthRegistered: () => false });
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

test("a project has a bounded number of skills", async () => {
  await using node = createTestNode(database.db);
  const project = await node.project();
  const jobId = await succeeded(node, project, greet);
  await project.client.promoteJob({ jobId, slug: "greet", description });
  await database.db
    .sql`insert into skills select project_id, 's' || n, description, job_id, program_digest, access_class, created_at, input_schema
    from skills, generate_series(1, 199) n where project_id = ${uuidOfId(project.projectId)}`;
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
      .map((found) => found.tool.slug);
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
  expect(events.at(-1)).toMatchObject({ type: "job-promoted", payloadJson: '{"toolSlug":"skills.greet"}' });
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
