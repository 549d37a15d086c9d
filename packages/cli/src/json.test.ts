import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkoutDir } from "@svc/server/config";
import { letIn, registerAgent } from "@svc/testing/agent";
import { type ToolkitSource, writeToolkits } from "@svc/testing/catalog";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandNames } from "./program.ts";
import { runTestCommand, startCommand } from "./test-command.ts";

// Every command with --json against one real server, in the order in which a project comes to use them.

const notes: ToolkitSource = {
  toolkit: {
    slug: "notes",
    name: "Notes",
    description: "Pages of notes that a team keeps for itself.",
    version: "0.1.0",
    category: "knowledge",
    baseUrl: "https://notes.example.com",
    auth: [{ type: "none" }],
  },
  tools: {
    list_pages: {
      kind: "action",
      class: "read",
      description: "Lists the pages that the team keeps for itself, ordered by title.",
      intents: ["what have we written", "show the table of contents", "find the page on onboarding"],
      input: { type: "object", additionalProperties: false, properties: {} },
      output: { type: "object", properties: { pages: { type: "array", items: { type: "string" } } } },
      request: { method: "GET", path: "/pages" },
    },
  },
};
const secret = { SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" };
const ran = new Set<string>();
let folder: string;
let server: TestServer;
let receiver: TestReceiver;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-cli-"));
  await writeToolkits(join(folder, "shared"), [sampleToolkits.payments]);
  await writeToolkits(folder, [notes]);
  receiver = await startTestReceiver();
  const toolkits = `${join(checkoutDir, "toolkits")},${join(folder, "shared")}`;
  server = await startTestServer({ variables: { ...secret, SVC_SANDBOX: "force", SVC_TOOLKITS: toolkits } });
});
afterAll(async () => {
  await server.stop();
  await receiver[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function variables() {
  return { ...secret, SVC_URL: server.url, SVC_API_KEY: server.key, SVC_ADMIN_TOKEN: server.adminToken };
}

/** Runs a command with --json, which ends with `expected`, and resolves to what it printed. */
async function json(command: string, args: readonly string[] = [], { code: expected = 0, input = "" } = {}) {
  ran.add(command);
  const { code, printed, noted } = await runTestCommand([...command.split(" "), ...args, "--json"], variables(), input);
  expect(code, `${command}: ${noted.join("\n")}`).toBe(expected);
  return JSON.parse(printed.join("\n"));
}

async function save(name: string, value: unknown): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, JSON.stringify(value));
  return file;
}

test("of projects and keys", async () => {
  const { id: projectId } = await json("projects create", ["second"]);
  expect(await json("projects list")).toMatchObject([{ id: projectId }, { name: "default" }]);
  expect(await json("projects policy", ["second", "--plan-approval", "always"])).toMatchObject({ id: projectId });
  const quotas = { policy: { planApproval: "always", quotas: { jobs: 7 } } };
  expect(await json("projects quotas", ["second", "--set", "jobs=7"])).toMatchObject(quotas);
  const { quotas: used } = await json("projects usage", ["second"]);
  expect(used).toContainEqual(expect.objectContaining({ name: "jobs", used: 0, most: 7 }));
  const { apiKey } = await json("keys create", ["--project", "second"]);
  expect(await json("keys list", ["--project", "second"])).toMatchObject([{ id: apiKey.id }]);
  expect(await json("keys revoke", [apiKey.id])).toMatchObject({ id: apiKey.id });
  expect(await json("whoami")).toMatchObject({ projectName: "default" });
});

test("of the catalog", async () => {
  const definition = join(folder, "notes");
  expect(await json("catalog check", [join(checkoutDir, "toolkits/calendar")])).toMatchObject({ faults: [] });
  expect(await json("catalog list")).toContainEqual(expect.objectContaining({ slug: "payments" }));
  expect(await json("catalog show", ["calendar"])).toMatchObject({ toolkit: { slug: "calendar" } });
  expect(await json("catalog publish", [definition])).toMatchObject({ toolkit: { slug: "notes" } });
  expect(await json("catalog delete", ["notes", "--yes"])).toEqual({ deleted: "notes" });
  expect(await json("search", ["what is on my calendar", "--limit", "2"])).toMatchObject({
    results: [{}, {}],
  });
});

test("of accounts and calls", async () => {
  const { id } = await json("connect", ["messaging_bot", "--entity", "ops", "--key-stdin"], { input: "key" });
  expect(await json("connections list")).toMatchObject([{ id }]);
  expect(await json("connections show", [id])).toMatchObject({ id });
  expect(await json("connections test", [id], { code: 3 })).toMatchObject({ outcome: "unknown", account: { id } });
  expect(await json("connections references", [id, "team-7"])).toMatchObject({ id });
  expect((await json("connections link", ["messaging_bot", "--entity", "ada"])).url).toContain("/console/connect#");
  const credential = ["payments", "--client-id", "4711", "--secret-stdin", "--var", "prefix=shop-1"];
  expect(await json("credentials set", credential, { input: "secret" })).toMatchObject({ toolkitSlug: "payments" });
  expect(await json("credentials delete", ["payments"])).toEqual({ deleted: "payments" });
  const call = ["messaging_bot.get_me", "--entity", "ops"];
  expect(await json("call", call)).toMatchObject({ outcome: "ok" });
  const [{ id: callId }] = await json("tool-calls list");
  expect(await json("tool-calls show", [callId])).toMatchObject({ toolSlug: "messaging_bot.get_me" });
  const limit = ["bot", "--toolkit", "messaging_bot", "--key", "accountId", "--rate", "1000/1m", "--concurrency", "8"];
  const put = await json("limits put", limit);
  expect(put).toMatchObject({
    name: "bot",
    keyExpression: "accountId",
    concurrency: 8,
    rate: { max: 1000, per: "60s" },
  });
  expect(await json("limits list")).toEqual([put]);
  expect(await json("limits delete", ["bot"])).toEqual({ deleted: "bot" });
  const { hook } = await json("hooks create", ["after", receiver.url]);
  expect(await json("hooks list")).toMatchObject([{ id: hook.id, active: true }]);
  expect(await json("hooks update", [hook.id, "--pause"])).toMatchObject({ id: hook.id, active: false });
  expect(await json("hooks delete", [hook.id])).toEqual({ deleted: hook.id });
});

test("of events and their deliveries", async () => {
  expect(await json("endpoints")).toContainEqual(expect.objectContaining({ toolkitSlug: "calendar" }));
  const { subscription } = await json("subscriptions create", [receiver.url]);
  ran.add("listen");
  const listening = startCommand(["listen", "--json"], variables());
  await listening.line(/Listening at/);
  expect(await json("trigger", ["calendar"])).toMatchObject({ accepted: 1 });
  const heard = JSON.parse(await listening.line(/^\{/));
  expect(heard).toMatchObject({ delivery: { toolkitSlug: "calendar" } });
  listening.interrupt();
  await listening.exitCode;
  const [{ id: eventId }] = await json("events list");
  expect(await json("events show", [eventId])).toMatchObject({ id: eventId });
  await until(() => receiver.requests.length > 0);
  const [{ id: deliveryId }] = await json("deliveries list", ["--subscription", subscription.id]);
  await until(async () => (await json("deliveries attempts", [deliveryId])).length > 0);
  expect(await json("deliveries show", [deliveryId])).toMatchObject({ id: deliveryId });
  await until(async () => (await json("deliveries show", [deliveryId])).state === "delivered");
  await json("deliveries try", [deliveryId], { code: 1 }).catch((error: unknown) =>
    expect(error).toBeInstanceOf(SyntaxError),
  );
  expect(await json("stats")).toMatchObject({ deadLetters: 0 });
  ran.add("watch");
  const watching = startCommand(["watch", "--kind", "event", "--since", "5m", "--json"], variables());
  expect(JSON.parse(await watching.line(/^\{/))).toMatchObject({ id: eventId });
  watching.interrupt();
  await watching.exitCode;
  expect(await json("replay", [eventId])).toMatchObject({ deliveries: [{ eventId }] });
  const range = ["--since", "1h", "--subscription", subscription.id];
  expect(await json("events replay", [...range, "--dry-run"])).toMatchObject({ total: 1 });
  const { id: replayId } = await json("events replay", [...range, "--rate", "1/s"]);
  expect(await json("replays watch", [replayId])).toMatchObject({ state: "REPLAY_STATE_DONE", queued: 1 });
  expect(await json("replays list")).toMatchObject([{ id: replayId }]);
  for (const act of ["show", "pause", "resume", "cancel"]) {
    expect(await json(`replays ${act}`, [replayId])).toMatchObject({ id: replayId, state: "REPLAY_STATE_DONE" });
  }
  expect(await json("replays update", [replayId, "--rate", "9/s"])).toMatchObject({ id: replayId });
  expect(await json("subscriptions test", [subscription.id])).toMatchObject({ number: 1, statusCode: 200 });
  expect(await json("subscriptions try", [subscription.id])).toMatchObject({ subscription: { id: subscription.id } });
  expect(await json("subscriptions list")).toMatchObject([{ id: subscription.id }]);
  expect(await json("subscriptions show", [subscription.id])).toMatchObject({ id: subscription.id });
  expect(await json("subscriptions update", [subscription.id, "--deactivate"])).toMatchObject({ active: false });
  expect(await json("subscriptions delete", [subscription.id])).toEqual({ deleted: subscription.id });
});

test("of the quarantine", async () => {
  await fetch(`${server.url}/webhooks/calendar?token=swordfish`, { method: "POST", body: '{"odd":true}' });
  const [{ id }] = await json("quarantine list");
  expect(await json("quarantine show", [id])).toMatchObject({ post: { id } });
  expect(await json("quarantine release", [id])).toMatchObject([{ id, outcome: "quarantined" }]);
});

test("of jobs, questions and contacts", async () => {
  expect(await json("contacts put", ["lead", "--name", "Ada"])).toMatchObject({ principalId: "lead" });
  expect(await json("contacts list")).toContainEqual(expect.objectContaining({ principalId: "lead" }));
  const { askEndpoint } = await json("ask-endpoints create", [receiver.url]);
  expect(await json("ask-endpoints list")).toMatchObject([{ id: askEndpoint.id }]);
  const get = { id: "get", call: "messaging_bot.get_me", entity: "ops", args: {} };
  const escalation = [{ principal: "lead", timeout: "1h" }];
  const file = await save("asking.json", {
    version: 1,
    title: "Ask and read",
    inputSchema: { type: "object" },
    input: {},
    steps: [{ id: "gate", judge: "sure" }, get],
    points: { sure: { question: "Read?", continuations: ["proceed", "abort"], escalation } },
    result: {},
  });
  const { id } = await json("jobs submit", [file]);
  expect(await json("jobs watch", [id], { code: 3 })).toMatchObject({ id });
  const [{ requestId }] = await json("asks list", ["--job", id]);
  expect(await json("asks show", [requestId, "--job", id])).toMatchObject({ requestId, jobId: id });
  expect((await json("asks link", [requestId, "--as", "lead"])).url).toContain("/console/answer#");
  expect(await json("answer", [requestId, "proceed", "--as", "lead"])).toMatchObject({ id });
  expect(await json("jobs watch", [id])).toMatchObject({ id, status: "JOB_STATUS_SUCCEEDED" });
  expect(await json("jobs show", [id])).toMatchObject({ job: { id } });
  expect(await json("jobs list")).toMatchObject([{ id }]);
  ran.add("jobs log");
  const log = await runTestCommand(["jobs", "log", id, "--json"], variables());
  expect(log.printed.map((line) => JSON.parse(line).type)).toContain("ask-settled");
  expect(await json("jobs promote", [id, "--slug", "read", "--description", "Reads who it is"])).toMatchObject({});
  expect(await json("skills list")).toMatchObject([{ slug: "read", version: 1 }]);
  expect(await json("skills get", ["read"])).toMatchObject({ slug: "read", jobId: id });
  expect(await json("skills delete", ["read"])).toEqual({ deleted: "read" });
  // What can be parked is under way, and held there by jobs/park.test.ts.
  for (const command of ["park", "release"]) {
    ran.add(`jobs ${command}`);
    const refused = await runTestCommand(["jobs", command, id, "--json"], variables());
    expect(refused.noted.join("\n")).toContain(id);
  }
  expect(await json("jobs check", [file])).toMatchObject({ faults: [] });
  expect(await json("jobs steps", [id])).toMatchObject({ steps: [{ stepId: "gate" }, { stepId: "get" }] });
  expect(await json("jobs undo-entries", [id])).toEqual([]);
  expect(await json("jobs rerun", [id])).toMatchObject({ drift: [] });
  // What can be retried has failed, and is by jobs.test.ts.
  ran.add("jobs retry");
  const unretried = await runTestCommand(["jobs", "retry", id, "--json"], variables());
  expect(unretried.noted.join("\n")).toContain(id);
  const waiting = await json("jobs submit", [file]);
  expect(await json("jobs pause", [waiting.id])).toMatchObject({ id: waiting.id });
  expect(await json("jobs resume", [waiting.id])).toMatchObject({ id: waiting.id });
  expect(await json("jobs cancel", [waiting.id])).toMatchObject({ id: waiting.id });
  expect(await json("ask-endpoints delete", [askEndpoint.id])).toEqual({ deleted: askEndpoint.id });
  const [account] = await json("connections list");
  expect(await json("connections delete", [account.id])).toEqual({ deleted: account.id });
  const unasked = await json("contacts put", ["other", "--name", "Ben"]);
  expect(await json("contacts delete", [unasked.principalId])).toEqual({ deleted: "other" });
});

test("of the console", async () => {
  const { url } = await json("console open");
  expect(url).toContain("/console/#link=");
  const link = new URL(url).hash.replace("#link=", "");
  const headers = { "content-type": "application/json", origin: server.url };
  await fetch(`${server.url}/console/session`, { method: "POST", body: JSON.stringify({ link }), headers });
  const [{ id }] = await json("console sessions");
  expect(await json("console end", [id])).toEqual({ ended: id });
});

test("of secrets", async () => {
  const put = ["billing", "--secret-stdin"];
  expect(await json("secrets put", put, { input: "0123456789abcdef" })).toMatchObject({ name: "billing" });
  expect(await json("secrets list")).toMatchObject([{ name: "billing" }]);
  expect(await json("secrets delete", ["billing"])).toEqual({ deleted: "billing" });
});

test("of standing programs", async () => {
  const program = { version: 1, title: "Nap", steps: [{ id: "nap", wait: "1s" }] };
  const source = { schedule: { at: ["2099-01-01T00:00:00Z"] } };
  const file = await save("standing.json", { version: 1, title: "Nap once", source, program });
  expect(await json("standing preview", [file])).toMatchObject({ nextTimes: [{}] });
  const { id } = await json("standing create", ["nap", file]);
  expect(await json("standing list")).toMatchObject([{ id, slug: "nap" }]);
  expect(await json("standing show", ["nap"])).toMatchObject({ standingProgram: { id } });
  expect(await json("standing update", ["nap", file])).toMatchObject({ id });
  expect(await json("standing pause", ["nap"])).toMatchObject({ id });
  expect(await json("standing resume", ["nap"])).toMatchObject({ id });
  const { id: runId } = await json("standing run", ["nap"]);
  expect(await json("standing runs", ["nap"])).toMatchObject([{ id: runId }]);
  expect(await json("standing backfill", ["nap", "--since", "1h"])).toMatchObject({ total: 0 });
  expect(await json("standing delete", ["nap"])).toEqual({ deleted: "nap" });
});

test("of grants", async () => {
  const agent = await registerAgent(server.url);
  await agent.change((await letIn(server, agent)).get("code") ?? "");
  const [{ id }] = await json("grants list");
  expect(await json("grants update", [id, "--access", "read"])).toMatchObject({ id, accessClasses: ["read"] });
  expect(await json("grants revoke", [id])).toMatchObject({ id });
});

test("of keys for agents", async () => {
  const { apiKey } = await json("agent-keys create", ["--entity", "ada", "--expires-in", "5m"]);
  expect(apiKey).toMatchObject({ entityId: "ada", role: "ROLE_MEMBER" });
  expect(await json("agent-keys list")).toMatchObject([{ id: apiKey.id }]);
  expect(await json("agent-keys revoke", [apiKey.id])).toMatchObject({ id: apiKey.id });
});

test("of the vault, of who did what, and of what is erased", async () => {
  expect(await json("vault status")).toBeNull();
  const put = await json("vault put", ["embeddings_key", "--secret-stdin"], { input: "0123456789abcdef" });
  expect(put).toMatchObject({ name: "embeddings_key" });
  expect(await json("vault list")).toMatchObject([{ name: "embeddings_key" }]);
  expect(await json("vault delete", ["embeddings_key"])).toEqual({ deleted: "embeddings_key" });
  expect(await json("resume", ["--dry-run"])).toBeNull();
  expect(await json("audit list", ["--limit", "1"])).toHaveLength(1);
  expect(await json("audit verify")).toEqual([]);
  const now = ["--yes", "--no-wait"];
  const file = join(folder, "ada.jsonl");
  expect(await json("export", [file, "--project", "second", "--entity", "ada"])).toEqual({ file, counts: {} });
  const erased = await json("erase", ["--project", "second", "--entity", "ada", ...now]);
  expect(erased).toMatchObject({ id: expect.stringMatching(/^ers_/) });
  expect(await json("projects delete", ["second", ...now])).toMatchObject({ id: expect.stringMatching(/^ers_/) });
});

/** Those that need a second vault key, or a store that the service embeds. */
const elsewhere = new Set(["serve", "vault rotate", "backup", "restore"]);

test("of every command but serve, and those that no service with a store of its own takes", () => {
  const names = commandNames();
  const commands = names.filter((name) => !names.some((other) => other.startsWith(`${name} `)));
  expect(commands.filter((name) => !elsewhere.has(name) && !ran.has(name))).toEqual([]);
});
