import { setTimeout as wait } from "node:timers/promises";
import { createSvcClient, type SvcClient } from "@svc/sdk";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { pauseMs } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readText } from "../source.ts";

// The programs of docs/examples about rows run unchanged: they fetch, filter, sort and join rows, and report them in one message.

let server: TestServer;
let client: SvcClient;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  for (const toolkitSlug of toolkits) {
    const accountVariables = toolkitSlug === "payments_checkout" ? { live_url_prefix: "shop" } : {};
    const account = { toolkitSlug, entityId: "ops", scheme: "api_key", apiKey: "sandbox", accountVariables };
    await client.connections.initiateConnection(account);
  }
});
afterAll(() => server?.stop());

const toolkits = [
  "incident_mgmt",
  "sales_crm",
  "email_marketing",
  "esignature",
  "messaging_bot",
  "payments_checkout",
] as const;

async function submit(name: string): Promise<string> {
  const { job } = await client.jobs.submitJob({ programJson: readText(`docs/examples/${name}.json`) });
  return job?.id ?? "";
}

async function read(id: string) {
  return (await client.jobs.getJob({ id })).job;
}

/** Waits until `holds` is true of the job, and returns the job. */
async function reach(id: string, holds: (job: NonNullable<Awaited<ReturnType<typeof read>>>) => boolean) {
  for (const startedAt = performance.now(); ; await wait(pauseMs(startedAt))) {
    const job = await read(id);
    if (job !== undefined && holds(job)) return job;
    if (performance.now() > startedAt + 60_000)
      throw new Error(`the job did not come so far: ${job?.status} ${job?.lastError}`);
  }
}

/** Waits for a job's end. Returns its result, its receipt, and the arguments of its tool calls in order. */
async function ended(id: string) {
  const { receipt, lastError, stepReceipts } = await reach(id, ({ finishedAt }) => finishedAt !== undefined);
  expect(lastError).toBe("");
  const steps = Object.fromEntries(stepReceipts.map((step) => [step.stepId, step]));
  return { receipt, steps, result: JSON.parse(receipt?.resultJson ?? "null") as Record<string, number> };
}

/** Returns how many calls of a tool the ledger has. */
async function callsOf(toolSlug: string): Promise<number> {
  return (await client.tools.listToolCalls({ toolSlug, pageSize: 100 })).calls.length;
}

async function call(toolSlug: string, args: object): Promise<unknown> {
  const { outcome, resultJson } = await client.tools.callTool({
    toolSlug,
    entityId: "ops",
    argumentsJson: JSON.stringify(args),
  });
  expect(outcome).toBe("ok");
  return JSON.parse(resultJson) as unknown;
}

test("urgent incidents are paged, the others noted, and the team hears of those that were paged, once", async () => {
  const { result, receipt, steps } = await ended(await submit("triage-incidents-and-page"));
  const { seen = 0, paged = 0 } = result;
  expect([seen, paged]).toEqual([3, await callsOf("incident_mgmt.escalate_incident")]);
  expect(paged).toBeGreaterThan(0);
  expect(await callsOf("incident_mgmt.add_incident_note")).toBe(seen - paged);
  expect(receipt).toMatchObject({ outcome: "complete", calls: { read: 1 + seen, write: seen + 1 } });
  expect(steps["tell"]?.state).toBe("completed");
});

test("contacts who consented and are not known to the list are added to it, each address once", async () => {
  for (const [name, value] of [
    ["Ann", "ann@example.com"],
    ["Ann again", " ANN@example.com"],
    ["Ben", "ben@example.com"],
    ["Dora", "dora@example.com"],
    ["Nobody", "nobody@example.com"],
  ]) {
    await call("sales_crm.create_person", { name, emails: [{ value }] });
  }
  const { result } = await ended(await submit("contacts-to-mailing-list"));
  expect(result).toEqual({ contacts: 4, consenting: 2, added: 2 });
  expect(await callsOf("email_marketing.add_or_update_list_member")).toBe(2);
});

test("contacts that are there twice are deleted after approval, the first of each stays", async () => {
  const id = await submit("deduplicate-contacts");
  const asked = await reach(id, ({ park }) => park?.judgment !== undefined);
  const question = "Delete 1 contacts that are there twice?\n- Ann again <ann@example.com>";
  expect(asked.park?.judgment?.question).toBe(question);
  expect(await callsOf("sales_crm.delete_person")).toBe(0);
  await client.jobs.answerAsk({ jobId: id, principalId: "owner", continuation: "proceed" });
  const { result } = await ended(id);
  expect([result["deleted"], await callsOf("sales_crm.delete_person")]).toEqual([1, 1]);
});

test("many rows become one message", async () => {
  const before = await callsOf("messaging_bot.send_message");
  const { result, steps } = await ended(await submit("weekly-digest"));
  expect(result["deals"]).toBe(3);
  expect(result["worth"]).toBeGreaterThan(0);
  expect(steps["send"]?.calls).toMatchObject({ write: 1 });
  expect(await callsOf("messaging_bot.send_message")).toBe(before + 1);
});

test("what was paid twice is refunded after approval, and what is unpaid or unknown is told", async () => {
  const refunds = () => callsOf("payments_checkout.post_payments_payment_psp_reference_refunds");
  const id = await submit("reconcile-payouts");
  const asked = await reach(id, ({ park }) => park?.judgment !== undefined);
  expect(asked.park?.judgment?.question).toBe("Pay back 2500 in 1 refunds?\n- o2: 2500 EUR");
  expect(await refunds()).toBe(0);
  await client.jobs.answerAsk({ jobId: id, principalId: "owner", continuation: "proceed" });
  expect((await ended(id)).result).toEqual({ refunded: 1, unpaid: 1, unmatched: 1 });
  expect(await refunds()).toBe(1);
});

test("each signer of an open contract who looked at it a week ago and did not sign is reminded", async () => {
  const { result, steps } = await ended(await submit("chase-unsigned-contracts"));
  const { signers = 0, reminded = 0 } = result;
  expect(signers).toBeGreaterThan(0);
  expect(reminded).toBe(steps["late"]?.rows?.ok);
  expect(await callsOf("esignature.remind_signature_request")).toBe(reminded);
});

test("jobs see what calls made, whichever tools their programs have, and their logs tell of the sandbox", async () => {
  await call("sales_crm.create_deal", { title: "Made by a call" });
  const list = { id: "c", call: "sales_crm.list_deals", entity: "ops", args: {} };
  const rows = { from: "data[]", keep: ["id", "title"] };
  const lines = { id: "r", reduce: "c", as: { titles: { text: { of: "{row.title}", separator: "|" } } } };
  const titlesOf = async (...before: object[]) => {
    const steps = [...before, { ...list, rows }, lines];
    const result = { titles: { $ref: "steps.r.titles" } };
    const programJson = JSON.stringify({ version: 1, title: "See", steps, result });
    const { job } = await client.jobs.submitJob({ programJson });
    const { result: made } = await ended(job?.id ?? "");
    return { id: job?.id ?? "", titles: String(made["titles"]).split("|") };
  };
  const alone = await titlesOf();
  expect(alone.titles).toContain("Made by a call");
  const args = { title: "Made by a job" };
  const made = await titlesOf({ id: "n", call: "sales_crm.create_deal", entity: "ops", args });
  expect(made.titles).toEqual(expect.arrayContaining(["Made by a call", "Made by a job"]));
  const { events } = await client.jobs.listJobEvents({ jobId: alone.id, pageSize: 1 });
  expect(JSON.parse(events[0]?.payloadJson ?? "")).toMatchObject({ mode: "live", sandbox: true });
});
