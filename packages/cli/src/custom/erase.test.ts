import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Terminal } from "../command/context.ts";
import { runTestCommand, startCommand } from "../test-command.ts";

let server: TestServer;
let variables: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({
    variables: { SVC_SANDBOX: "force", SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" },
    erasures: { graceMs: 0, pollMs: 100 },
  });
  variables = { SVC_URL: server.url, SVC_ADMIN_TOKEN: server.adminToken, SVC_API_KEY: server.key };
});
afterAll(() => server.stop());

const svc = (...argv: string[]) => runTestCommand(argv, variables);

async function connectAndCall(entity: string): Promise<void> {
  const credential = { toolkitSlug: "calendar", entityId: entity, scheme: "oauth2" };
  expect(await server.call("svc.v1.ConnectionsService/InitiateConnection", credential)).toMatchObject({ code: "ok" });
  const call = { toolSlug: "calendar.list_events", entityId: entity, argumentsJson: "{}" };
  expect(await server.call("svc.v1.ToolsService/CallTool", call)).toMatchObject({ code: "ok" });
}

async function callsOf(entityId: string): Promise<number> {
  const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", { entityId });
  return json.calls.length;
}

test("an entity is exported as lines of JSON, with what its calls were, and without its credential; refusals say why", async () => {
  await connectAndCall("eve");
  const named = ["--project", "default", "--entity", "eve"];
  const { code, printed } = await svc("export", "-", ...named);
  expect(code).toBe(0);
  const lines = printed.map((line) => JSON.parse(line));
  expect(lines[0].export).toMatchObject({
    version: 1,
    entityId: "eve",
    leftOut: { connected_accounts: ["credential", "origin_digest"] },
  });
  expect(lines.at(-1)).toEqual({ end: { counts: { connected_accounts: 1, tool_calls: 1 } } });
  const [call, account] = ["tool_calls", "connected_accounts"].map(
    (table) => lines.find((line) => line.table === table).row,
  );
  expect(call).toMatchObject({ entity_id: "eve", tool_slug: "calendar.list_events" });
  expect(Object.keys(call)).toEqual(expect.arrayContaining(["result"]));
  expect(Object.keys(call)).not.toContain("arguments");
  expect(account).toMatchObject({ entity_id: "eve", state: "pending" });
  expect(Object.keys(account)).not.toContain("credential");
  const folder = await mkdtemp(join(tmpdir(), "svc-export-"));
  const file = join(folder, "eve.jsonl");
  expect(await svc("export", file, ...named)).toMatchObject({ code: 0, noted: [`${file}: 2 rows.`] });
  const [written, { mode }] = await Promise.all([readFile(file, "utf8"), stat(file)]);
  expect(written.split("\n").slice(1)).toEqual([...printed.slice(1), ""]);
  expect(mode & 0o777).toBe(0o600);
  expect(await svc("export", file, ...named)).toMatchObject({
    code: 1,
    noted: [expect.stringContaining("already exists")],
  });
  const missing = await svc("export", join(folder, "x"), "--project", "default", "--entity", "x".repeat(201));
  expect(missing).toMatchObject({ code: 1, noted: [expect.stringContaining("ENTITY_ID_INVALID")] });
  expect(await readdir(folder)).toEqual(["eve.jsonl"]);
  await rm(folder, { recursive: true });
  const { json } = await server.admin("ListAuditEvents", { action: "AdminService.ExportEntity" });
  expect(json.events.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["invalid_argument", "ok", "ok"]);
  expect(new Set(json.events.map((one: { entityDigest: string }) => one.entityDigest)).size).toBe(2);
});

test("an entity is erased once that is said, with what was deleted by table; another one keeps its calls, and its key ends", async () => {
  await connectAndCall("ada");
  await connectAndCall("bob");
  const { printed } = await svc("keys", "create", "--project", "default", "--name", "agent", "--entity", "ada");
  const [text = ""] = /svc_\w+/.exec(printed.join("\n")) ?? [];
  expect(await server.call("svc.v1.ToolsService/ListToolCalls", {}, { bearer: text })).toMatchObject({ code: "ok" });
  const erase = ["erase", "--project", "default", "--entity", "ada"];
  expect(await svc(...erase)).toMatchObject({ code: 2, noted: [expect.stringContaining("--yes")] });
  expect(await callsOf("ada")).toBe(1);
  const erased = await svc(...erase, "--yes");
  expect(erased).toMatchObject({ code: 0 });
  expect(erased.printed).toEqual([
    expect.stringMatching(/^TABLE +ROWS$/),
    expect.stringMatching(/^api_keys +1$/),
    expect.stringMatching(/^connected_accounts +1$/),
    expect.stringMatching(/^tool_calls +1$/),
  ]);
  expect([await callsOf("ada"), await callsOf("bob")]).toEqual([0, 1]);
  expect(await server.call("svc.v1.ToolsService/ListToolCalls", {}, { bearer: text })).toMatchObject({ status: 401 });
  const [, id = ""] = /(ers_\w+) is done: 3 rows deleted/.exec(erased.noted.join("\n")) ?? [];
  const followed = JSON.parse((await svc("erase", "--follow", id, "--json")).printed.join("\n"));
  expect(followed).toMatchObject({ id, state: "done", entityId: "", counts: { tool_calls: 1, connected_accounts: 1 } });
});

/** Sends a post of the shipped calendar toolkit. The post belongs to the account with the reference `channel`. */
async function postEvent(channel: string, number: number): Promise<void> {
  const headers = {
    "x-calendar-resource-state": "exists",
    "x-calendar-channel-id": channel,
    "x-calendar-message-number": String(number),
    "x-calendar-resource-id": "r",
    "x-calendar-resource-uri": "https://calendar.example/calendars/c/events",
  };
  const answer = await fetch(`${server.url}/webhooks/calendar?token=swordfish`, { method: "POST", headers });
  expect([answer.status, await answer.json()]).toEqual([202, { accepted: 1 }]);
}

test("an event that came before its account was connected is counted by a dry run, which changes nothing, and erased", async () => {
  await postEvent("channel-of-ida", 1);
  await postEvent("channel-of-another", 1);
  await connectAndCall("ida");
  const { json } = await server.call("svc.v1.ConnectionsService/ListConnections", { entityId: "ida" });
  const references = { id: json.accounts[0].id, references: ["channel-of-ida"] };
  expect(await server.call("svc.v1.ConnectionsService/SetAccountReferences", references)).toMatchObject({ code: "ok" });
  await postEvent("channel-of-ida", 2);
  const events = async () => (await server.call("svc.v1.TriggersService/ListEvents", {})).json.events;
  expect((await events()).map(({ entityId }: { entityId: string }) => entityId)).toEqual(["ida", "", ""]);
  const erase = ["erase", "--project", "default", "--entity", "ida"];
  const counted = await svc(...erase, "--dry-run");
  expect(counted.printed).toEqual([
    expect.stringMatching(/^TABLE +ROWS +SUCH AS$/),
    expect.stringMatching(/^account_references +1 +calendar\/channel-of-ida$/),
    expect.stringMatching(/^connected_accounts +1 +acc_\w+$/),
    expect.stringMatching(/^events +2 +evt_\w+, evt_\w+$/),
    expect.stringMatching(/^tool_calls +1 +call_\w+$/),
  ]);
  expect(counted.noted).toContain("Dry run: 5 rows would be deleted; nothing was deleted.");
  expect(counted.noted.join("\n")).toMatch(/Not searched:[\s\S]* quarantined_posts: [\s\S]* backups: [\s\S]* wal: /);
  const { erasure } = JSON.parse(`{"erasure":${(await svc(...erase, "--dry-run", "--json")).printed.join("\n")}}`);
  expect(erasure).toMatchObject({ id: "", state: "dry_run", counts: { events: 2 }, partial: false });
  expect([(await events()).length, await callsOf("ida")]).toEqual([3, 1]);
  const erased = await svc(...erase, "--yes");
  expect(erased.noted.join("\n")).toMatch(/5 rows deleted[\s\S]*Not searched:[\s\S]* log: /);
  expect(
    (await events()).map(({ payloadJson }: { payloadJson: string }) => JSON.parse(payloadJson).channel_id),
  ).toEqual(["channel-of-another"]);
});

test("a person at a terminal is asked, and says yes or nothing is erased", async () => {
  const answering = (answer: string): Terminal => ({
    ask: async () => answer,
    askSecret: async () => "",
    openPage: async () => false,
    startSpinner: async () => () => {},
  });
  const run = (answer: string) =>
    startCommand(["erase", "--project", "default", "--entity", "eve", "--no-wait"], variables, "", answering(answer));
  const refused = run("y");
  expect([await refused.exitCode, refused.printed]).toEqual([1, []]);
  const taken = run("yes");
  expect([await taken.exitCode, taken.printed]).toEqual([0, [expect.stringMatching(/^ers_\w+$/)]]);
});

test("a project is deleted with its keys and is not there any more", async () => {
  await svc("projects", "create", "short");
  const { printed } = await svc("keys", "create", "--project", "short", "--name", "k");
  const [text = ""] = /svc_\w+/.exec(printed.join("\n")) ?? [];
  expect(await server.call("svc.v1.IdentityService/GetIdentity", {}, { bearer: text })).toMatchObject({ code: "ok" });
  const deleted = await svc("projects", "delete", "short", "--yes", "--json");
  expect(JSON.parse(deleted.printed.join("\n"))).toMatchObject({
    kind: "project",
    state: "done",
    counts: { projects: 1 },
  });
  expect(await server.call("svc.v1.IdentityService/GetIdentity", {}, { bearer: text })).toMatchObject({ status: 401 });
  expect(await svc("projects", "delete", "short", "--yes")).toMatchObject({ code: 1 });
});
