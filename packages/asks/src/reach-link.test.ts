import { createId, digestSecret, generateApiKey, type KeyId } from "@svc/core";
import { toolCallsForProject } from "@svc/db/calls/repo";
import { findConsoleLink } from "@svc/db/console/links";
import { contactsForProject } from "@svc/db/contacts/repo";
import { type ApiKey, createApiKey, revokeApiKey } from "@svc/db/keys/repo";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { type AskBench, createAskBench } from "./test-asks.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

/** Returns a test bench with the contact `lead`, who receives an answer link. A key of the given role created this contact. */
async function linked(role: ApiKey["role"] = "approver"): Promise<{ bench: AskBench; keyId: KeyId }> {
  const bench = await createAskBench(db);
  const { projectId } = bench;
  const key = { name: "", hint: "", expiresAt: null, revokedAt: null, lastUsedAt: null, createdAt: 1 };
  const keyId = createId("key", bench.clock.now());
  await createApiKey(db, { ...key, id: keyId, projectId, role, digest: digestSecret(generateApiKey()) });
  const reach = { toolSlug: "desk.send_note", entityId: "ops", args: { text: "{question} {link}" } };
  const contact = { principalId: "lead", name: "Lead", isApprover: true, reach, createdAt: 1, keyId };
  await contactsForProject(db, projectId).put(contact, 1_000);
  return { bench, keyId };
}

/** Returns the texts of the messages that the contact received. */
const told = (bench: AskBench) => bench.world.seen.map(({ body }) => String((body as { text: string }).text));

const answerUrl = /^Continue\? https:\/\/svc\.example\.com\/console\/answer#([\w-]{43})$/;

test("a contact is told a link of its own, for which the approver's key that put it vouches; ledger and log have none of it", async () => {
  const { bench, keyId } = await linked();
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  await bench.work();
  const token = answerUrl.exec(told(bench)[0] ?? "")?.[1] ?? "";
  expect(await findConsoleLink(db, digestSecret(token))).toMatchObject({
    ...{ purpose: "answer", keyId, projectId: bench.projectId, spentAt: null },
    target: { answer: { jobId, requestId: id, principalId: "lead" } },
  });
  const { toolCallId } = await bench.ask(jobId, id);
  const call = await toolCallsForProject(db, bench.projectId).find(toolCallId as never);
  expect(JSON.stringify([call, await bench.log(jobId)])).not.toContain(token);
});

test("each try tells a new link, and an app that repeats one has it masked", async () => {
  const { bench } = await linked();
  bench.world.script = ({ body }) => ({ status: 429, body: { error: `too often: ${JSON.stringify(body)}` } });
  const jobId = await bench.job();
  await bench.raise(jobId);
  await bench.work();
  bench.clock.advance(10_000);
  await bench.work();
  const tokens = told(bench).map((text) => answerUrl.exec(text)?.[1] ?? "");
  expect(new Set(tokens).size).toBe(2);
  const rows = await db.sql.unsafe<{ row: string }[]>(
    "select c::text as row from tool_calls c where job_id is not null",
  );
  for (const token of tokens) {
    expect(token).toHaveLength(43);
    expect(JSON.stringify(rows) + JSON.stringify(await bench.log(jobId))).not.toContain(token);
  }
});

test("a node that takes the task over knows the call again, though it would tell another link", async () => {
  const { bench } = await linked();
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  const [lost] = await bench.claim();
  bench.clock.advance(10);
  const [taken] = await bench.claim();
  await lost?.run();
  await taken?.run();
  expect(told(bench)).toHaveLength(1);
  expect((await bench.ask(jobId, id)).toolCallId).toMatch(/^call_/);
});

test("an approval, a member's contact and one whose key is revoked are told the console's page of the question", async () => {
  const pages = async ({ bench }: { bench: AskBench }, changes: object = {}) => {
    const jobId = await bench.job();
    const id = await bench.raise(jobId, changes);
    await bench.work();
    expect(told(bench)).toEqual([
      expect.stringContaining(`https://svc.example.com/console/p/${bench.projectId}/asks/${jobId}/${id}`),
    ]);
  };
  await pages(await linked(), { kind: "approval" });
  await pages(await linked("member"));
  const revoked = await linked();
  await revokeApiKey(db, revoked.keyId, revoked.bench.clock.now());
  await pages(revoked);
});
