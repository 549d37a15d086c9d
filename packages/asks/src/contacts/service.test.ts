import type { ProjectId } from "@svc/core";
import { contactsForProject } from "@svc/db/contacts/repo";
import { ContactsService } from "@svc/gen/contacts";
import { createTestDatabase } from "@svc/testing/database";
import { createTestNode, jobOf, programText } from "@svc/testing/jobs-node";
import { refusalsOf } from "@svc/testing/project-client";
import { afterAll, expect, test } from "vitest";

const { db, drop } = await createTestDatabase();
afterAll(drop);
const node = createTestNode(db, { isStarted: false });
const clientOf = (projectId: ProjectId) => node.client(ContactsService, { projectId });

const reach = {
  toolSlug: "desk.send_note",
  entityId: "ops",
  argsJson: '{"text":"{question} {{x} {jobId}/{requestId}"}',
};
const lead = { principalId: "lead", name: "Lead", approver: false, reach };
const idsOf = ({ contacts }: { contacts: readonly { principalId: string }[] }) =>
  contacts.map(({ principalId }) => principalId);

test("a project starts with the approver owner; contacts are put as a whole and listed by name", async () => {
  const { projectId } = await node.project();
  const client = clientOf(projectId);
  expect((await client.listContacts({})).contacts).toMatchObject([
    { principalId: "owner", name: "Owner", approver: true },
  ]);
  const { contact } = await client.putContact({ contact: lead });
  expect(contact).toMatchObject(lead);
  const changed = await client.putContact({ contact: { principalId: "lead", name: "Lea", approver: true } });
  expect(changed.contact).toMatchObject({ name: "Lea", approver: true, createdAt: contact?.createdAt });
  expect(changed.contact?.reach).toBeUndefined();
  await client.putContact({ contact: { principalId: "amy@example.com", name: "Amy" } });
  const page = await client.listContacts({ pageSize: 2 });
  expect(idsOf(page)).toEqual(["amy@example.com", "lead"]);
  const rest = await client.listContacts({ pageSize: 2, pageToken: page.nextPageToken });
  expect([idsOf(rest), rest.nextPageToken]).toEqual([["owner"], ""]);
  expect(await refusalsOf(client.listContacts({ pageSize: -1 }))).toMatchObject({
    details: [{ reason: "PAGE_SIZE_NEGATIVE" }],
  });
  expect(await refusalsOf(client.listContacts({ pageToken: "x" }))).toMatchObject({
    details: [{ reason: "PAGE_TOKEN_INVALID" }],
  });
});

const argsOf = (argsJson: string) => ({ ...lead, reach: { ...reach, argsJson } });

test.each([
  ["PRINCIPAL_ID_INVALID", undefined],
  ["PRINCIPAL_ID_INVALID", { ...lead, principalId: "" }],
  ["PRINCIPAL_ID_INVALID", { ...lead, principalId: "x".repeat(201) }],
  ["PRINCIPAL_ID_INVALID", { ...lead, principalId: "a\nb" }],
  ["CONTACT_NAME_INVALID", { ...lead, name: "" }],
  ["CONTACT_NAME_INVALID", { ...lead, name: "a\0" }],
  ["TOOL_NOT_FOUND", { ...lead, reach: { ...reach, toolSlug: "desk.none" } }],
  ["REACH_TOOL_UNSUITABLE", { ...lead, reach: { ...reach, toolSlug: "desk.delete_note" } }],
  ["ENTITY_ID_INVALID", { ...lead, reach: { ...reach, entityId: "" } }],
  ["REACH_ARGS_INVALID", argsOf("")],
  ["REACH_ARGS_INVALID", argsOf("[]")],
  ["REACH_ARGS_INVALID", argsOf('{"text":"{question} {answer}"}')],
  ["REACH_ARGS_INVALID", argsOf('{"text":7}')],
  ["REACH_ARGS_INVALID", argsOf('{"text":"a","more":1}')],
  ["REACH_ARGS_INVALID", argsOf('{"text":"\\u0000"}')],
  ["REACH_ARGS_INVALID", argsOf(JSON.stringify({ text: "x".repeat(16_384) }))],
])("%s: a faulty contact is not stored", async (reason, contact) => {
  const { projectId } = await node.project();
  const client = clientOf(projectId);
  const call = client.putContact(contact === undefined ? {} : { contact });
  expect((await refusalsOf(call)).details).toMatchObject([{ reason }]);
  expect(idsOf(await client.listContacts({}))).toEqual(["owner"]);
});

test("a project keeps an approver, whoever leaves first", async () => {
  const { projectId } = await node.project();
  const client = clientOf(projectId);
  const last = { code: "FailedPrecondition", details: [{ reason: "LAST_APPROVER" }] };
  expect(await refusalsOf(client.deleteContact({ principalId: "owner" }))).toMatchObject(last);
  expect(await refusalsOf(client.putContact({ contact: { principalId: "owner", name: "O" } }))).toMatchObject(last);
  for (let round = 0; round < 20; round++) {
    await client.putContact({ contact: { principalId: "a", name: "A", approver: true } });
    await client.putContact({ contact: { principalId: "b", name: "B", approver: true } });
    if (round === 0) await client.deleteContact({ principalId: "owner" });
    const leaving = [
      client.deleteContact({ principalId: "a" }),
      client.putContact({ contact: { principalId: "b", name: "B" } }),
    ];
    const outcomes = await Promise.allSettled(leaving);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await contactsForProject(db, projectId).listApprovers()).toHaveLength(1);
  }
});

test("a contact that a pending ask has reached stays until it is settled", async () => {
  await using running = createTestNode(db);
  const project = await running.project();
  const client = clientOf(project.projectId);
  await client.putContact({ contact: { principalId: "lead", name: "Lead" } });
  const programJson = programText({
    steps: [{ id: "gate", judge: "sure" }],
    points: { sure: { question: "Sure?", continuations: ["proceed"], escalation: [{ principal: "lead" }] } },
  });
  const { id: jobId } = jobOf(await project.client.submitJob({ programJson }));
  await running.reach(jobId, "parked");
  const asked = { code: "FailedPrecondition", details: [{ reason: "CONTACT_ASKED", field: "principalId" }] };
  expect(await refusalsOf(client.deleteContact({ principalId: "lead" }))).toEqual(asked);
  await project.client.answerAsk({ jobId, principalId: "lead", continuation: "proceed" });
  await client.deleteContact({ principalId: "lead" });
  expect(idsOf(await client.listContacts({}))).toEqual(["owner"]);
});

test("another project's contact reads as missing", async () => {
  const [project, stranger] = [await node.project(), await node.project()];
  await clientOf(project.projectId).putContact({ contact: lead });
  const client = clientOf(stranger.projectId);
  expect(idsOf(await client.listContacts({}))).toEqual(["owner"]);
  const missing = { code: "NotFound", details: [{ reason: "CONTACT_NOT_FOUND", field: "principalId" }] };
  expect(await refusalsOf(client.deleteContact({ principalId: "lead" }))).toEqual(missing);
  expect(await refusalsOf(client.deleteContact({ principalId: "\0" }))).toEqual(missing);
});

test("a project has a thousand contacts at most; those it has may still change", async () => {
  const { projectId } = await node.project();
  const client = clientOf(projectId);
  await db.sql`insert into contacts select p.project_id, n::text, 'n', false, null, now() from contacts p, generate_series(1, 999) n
    where p.principal_id = 'owner' and p.project_id = (select project_id from contacts order by project_id desc limit 1)`;
  expect(await refusalsOf(client.putContact({ contact: lead }))).toMatchObject({
    code: "ResourceExhausted",
    details: [{ reason: "CONTACTS_TOO_MANY" }],
  });
  await client.putContact({ contact: { principalId: "1", name: "One" } });
});
