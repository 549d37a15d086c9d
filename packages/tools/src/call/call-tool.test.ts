import type { AppAnswer } from "@svc/connections";
import { createId, type ProjectId } from "@svc/core";
import { toolCallsForProject } from "@svc/db/calls/repo";
import { catalogOf } from "@svc/testing/catalog";
import { createTestDatabase } from "@svc/testing/database";
import { testSealer } from "@svc/testing/node";
import { afterAll, expect, test } from "vitest";
import type { callOutcomes } from "../outcome.ts";
import type { CallRequest } from "./call-request.ts";
import { addProject, createTestNode, credential, type TestNode } from "./test-node.ts";
import { deskToolkit } from "./test-toolkits.ts";
import { answer, cut, timedOut } from "./test-transport.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const note = { id: "t1", text: "hello" };

/** Returns a ledger row with its encrypted parts decrypted. */
async function opened(node: TestNode, projectId: ProjectId) {
  const rows = await node.rows(projectId);
  const listed = await toolCallsForProject(db, projectId).list(
    { toolSlug: undefined, entityId: undefined, outcome: undefined, sinceMs: undefined, untilMs: undefined },
    { after: undefined, limit: 100 },
  );
  return Promise.all(
    listed.reverse().map(async ({ id }, index) => {
      const row = await toolCallsForProject(db, projectId).find(id);
      if (row === undefined) throw new Error("the row is gone");
      const text = (column: "arguments" | "result" | "message", sealed: Buffer | null) =>
        sealed === null ? undefined : node.ledger.openText(id, projectId, column, sealed);
      return {
        ...row,
        raw: rows[index],
        arguments: text("arguments", row.arguments),
        result: text("result", row.result),
        message: text("message", row.sealedMessage) ?? row.message,
      };
    }),
  );
}

type Case = {
  tool?: string;
  changes?: Partial<CallRequest>;
  move?: Parameters<TestNode["app"]["does"]>[0];
  scopes?: string[];
  sent?: number;
};

const outcomes: Record<(typeof callOutcomes)[number], Case> = {
  ok: { sent: 1 },
  held: { tool: "delete_ticket" },
  invalid_arguments: { changes: { args: { id: 5, more: 1 } } },
  no_account: { changes: { entityId: "nobody" } },
  account_unusable: { changes: { entityId: "expired" } },
  missing_scope: { scopes: ["files"] },
  not_callable: { tool: "hidden" },
  not_bound: { tool: "unplaced.read_ticket" },
  rate_limited: { tool: "add_note", changes: { args: note }, move: answer(429), sent: 1 },
  provider_error: { move: answer(400, "no"), sent: 1 },
  timeout: { move: timedOut, sent: 1 },
  unreachable: { move: { kind: "refused", message: "not there" }, sent: 1 },
  outcome_unknown: { tool: "add_note", changes: { args: note }, move: cut, sent: 1 },
};

test.each(Object.entries(outcomes))(
  "%s is answered, recorded, and sends what it should",
  async (outcome, { tool = "read_ticket", changes, move, scopes, sent = 0 }) => {
    const node = createTestNode(db);
    const projectId = await addProject(db);
    if (move !== undefined) node.app.does(move);
    node.accounts.grantedScopes = scopes ?? [];
    const { callId, result, isReplay } = await node.call(projectId, tool, changes);
    expect([result.outcome, isReplay, node.app.requests.length]).toEqual([outcome, false, sent]);
    expect(result.message === "").toBe(outcome === "ok");
    const [row, ...others] = await opened(node, projectId);
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      id: callId,
      projectId,
      toolSlug: tool.includes(".") ? tool : `desk.${tool}`,
      outcome,
      message: result.message,
      providerStatus: result.providerStatus,
      entityId: changes?.entityId ?? "ann",
      idempotencyKey: null,
      createdAt: node.clock.now(),
      result: outcome === "ok" ? '{"id":"t1","state":"open"}' : undefined,
    });
    expect(row?.accountId === null).toBe(
      ["invalid_arguments", "no_account", "account_unusable", "not_callable"].includes(outcome),
    );
    // A value under an unknown name is masked, because it may be anything.
    const kept = changes?.args && { ...changes.args, ...("more" in changes.args && { more: "***" }) };
    expect(row?.arguments).toBe(JSON.stringify(kept ?? { id: "t1" }));
  },
);

test("arguments of a job's call are not stored: its row has an empty object, and nothing is sealed for it", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const job = { id: createId("job", 1), stepId: "send" };
  await node.call(projectId, "add_note", { args: note, caller: { projectId, keyId: undefined, job } });
  const [row] = await opened(node, projectId);
  expect(row).toMatchObject({ outcome: "ok", arguments: "{}", jobId: job.id });
  expect(row?.raw).toMatchObject({ arguments: Buffer.alloc(0) });
});

test("a write's arguments are sealed once, for its row's beginning and its end", async () => {
  const contexts: string[] = [];
  const seal: typeof testSealer.seal = (plaintext, context) => {
    contexts.push(context.slice(context.lastIndexOf("/") + 1));
    return testSealer.seal(plaintext, context);
  };
  const node = createTestNode(db, { sealer: { ...testSealer, seal } });
  const projectId = await addProject(db);
  await node.call(projectId, "add_note", { args: note });
  expect(contexts).toEqual(["arguments", "result"]);
  expect(await opened(node, projectId)).toMatchObject([{ outcome: "ok", arguments: JSON.stringify(note) }]);
});

test("a trigger is not callable, and its row holds no arguments", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  expect((await node.call(projectId, "code_host.issue_opened")).result.outcome).toBe("not_callable");
  expect(await opened(node, projectId)).toMatchObject([{ arguments: "{}", accessClass: "read" }]);
});

test("a tool that the project does not see is refused, and leaves no row", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  expect(await node.ask(projectId, "desk.read_tickt")).toEqual({
    outcome: "no_such_tool",
    toolSlug: "desk.read_tickt",
    meant: "desk.read_ticket",
  });
  expect(await node.rows(projectId)).toEqual([]);
});

test("a private tool of another project is not found", async () => {
  const node = createTestNode(db);
  const [own, other] = [await addProject(db), await addProject(db)];
  const source = { ...deskToolkit, toolkit: { ...deskToolkit.toolkit, slug: "own_desk" } };
  const toolkit = catalogOf({ toolkits: [source] }).toolkits.get("own_desk");
  if (toolkit === undefined) throw new Error("the toolkit is missing");
  await node.views.publish(own, { toolkit, definitionJson: JSON.stringify(source) }, { mustBeNew: false });
  expect((await node.call(own, "own_desk.read_ticket")).result.outcome).toBe("ok");
  expect(await node.ask(other, "own_desk.read_ticket")).toMatchObject({ outcome: "no_such_tool" });
  expect(node.app.calls.map(({ toolkit: used }) => used.ownerProjectId)).toEqual([own]);
});

test("a destructive call needs confirmation and shows a preview, then runs once with confirm, under the same key", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const args = { id: "t1", text: "a b", pin: "planted-pin" };
  const held = await node.call(projectId, "delete_ticket", { args, idempotencyKey: "k" });
  expect(held.result).toMatchObject({
    outcome: "held",
    message: expect.stringContaining('"confirm": true'),
    preview: {
      method: "DELETE",
      url: "https://desk.example.com/api/tickets/t1?pin=***&reason=a%20b",
      headers: { authorization: "Bearer ***" },
      body: "",
    },
  });
  expect(node.app.requests).toEqual([]);
  const confirmed = { args: { ...args, confirm: true }, idempotencyKey: "k" };
  node.app.does(answer(204));
  const done = await node.call(projectId, "delete_ticket", confirmed);
  expect([done.result.outcome, done.result.value, done.isReplay]).toEqual(["ok", { id: "deleted" }, false]);
  expect(node.app.requests.map(({ url }) => url)).toEqual([
    "https://desk.example.com/api/tickets/t1?pin=planted-pin&reason=a%20b",
  ]);
  for (const again of [confirmed, { args, idempotencyKey: "k" }]) {
    const replay = await node.call(projectId, "delete_ticket", again);
    expect([replay.callId, replay.isReplay, replay.result.value]).toEqual([done.callId, true, { id: "deleted" }]);
  }
  expect(node.app.requests).toHaveLength(1);
  expect((await node.rows(projectId)).map(({ outcome }) => outcome).sort()).toEqual(["held", "ok"]);
});

test("a call without an account that needs confirmation has no preview", async () => {
  const node = createTestNode(db);
  const { result } = await node.call(await addProject(db), "delete_ticket", { entityId: "nobody" });
  expect([result.outcome, result.preview]).toEqual(["held", undefined]);
});

test("a dry run shows exactly what would be sent, and leaves no trace", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const args = { ...note, pin: "planted-pin" };
  const { callId, result } = await node.call(projectId, "charge", { args, isDryRun: true, idempotencyKey: "k" });
  expect([callId, result.outcome, node.app.requests, await node.rows(projectId)]).toEqual([undefined, "ok", [], []]);
  await node.call(projectId, "charge", { args, idempotencyKey: "k" });
  const [sent] = node.app.requests;
  expect(result.preview).toEqual({
    method: sent?.method,
    url: sent?.url,
    headers: { ...sent?.headers, authorization: "Bearer ***" },
    body: sent?.body?.replace("planted-pin", "***"),
  });
  expect(result.preview?.headers["idempotency-key"]).toMatch(/^[0-9a-f]{40}$/);
  expect((await node.call(projectId, "delete_ticket", { isDryRun: true })).result.outcome).toBe("held");
});

test("a fault found while building the request is an argument's fault, and quotes no sensitive values", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const { result } = await node.call(projectId, "read_ticket", { args: { id: ".." } });
  expect(result).toMatchObject({
    outcome: "invalid_arguments",
    faults: [{ pointer: "", message: expect.stringContaining("..") }],
  });
  const sensitive = await node.call(projectId, "delete_ticket", {
    args: { id: "t1", pin: "planted\ud800", confirm: true },
  });
  expect(sensitive.result.outcome).toBe("invalid_arguments");
  expect(JSON.stringify(sensitive.result)).not.toContain("planted");
  expect(node.app.requests).toEqual([]);
});

test("no sensitive value stands in an unsealed column, in what the ledger opens, or in a message", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const args = { ...note, pin: "planted-pin" };
  const says = `you sent planted-pin with Bearer ${credential}`;
  node.app.does(
    answer(200, { id: "t1", link: "https://x.example/planted-link" }),
    answer(400, says),
    answer(422, { pin: "planted-pin", error: says, link: "planted-link" }),
    answer(200, says),
  );
  const answers: Awaited<ReturnType<TestNode["call"]>>[] = [];
  for (let round = 0; round < 4; round++)
    answers.push(await node.call(projectId, "add_note", { args, idempotencyKey: `k${round}` }));
  answers.push(await node.call(projectId, "add_note", { args: { ...args, text: 5 } }));
  answers.push(await node.call(projectId, "add_note", { args: { ...args, pin: ["planted-pin"] } }));
  answers.push(await node.call(projectId, "delete_ticket", { args }));
  expect(answers[0]?.result.value).toEqual({ id: "t1", link: "https://x.example/planted-link" });
  expect(JSON.stringify(answers.slice(1))).not.toContain("planted");
  const rows = await opened(node, projectId);
  expect(rows).toHaveLength(7);
  expect(JSON.stringify(rows)).not.toContain("planted");
  const [dump] = await db.sql`select string_agg(t::text, ' ') as text,
    string_agg(encode(t.arguments, 'escape') || encode(coalesce(t.result, ''), 'escape') || encode(coalesce(t.replay, ''), 'escape'), ' ') as sealed
    from tool_calls t`;
  expect(JSON.stringify(dump)).not.toContain("planted");
  expect(rows.find(({ id }) => id === answers[0]?.callId)).toMatchObject({
    arguments: '{"id":"t1","text":"hello","pin":"***"}',
    result: '{"id":"t1","link":"***"}',
  });
});

test("a message that quotes an argument, or the app, is sealed; what came under an unknown name is kept nowhere", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  node.app.does(answer(400, "planted-words of an app"));
  const refused = await node.call(projectId, "add_note", {
    args: { id: ["planted-plain"], text: "hello", api_key: "unknown-planted" },
  });
  const failed = await node.call(projectId, "add_note", { args: { id: "planted-id", text: "planted-text" } });
  expect(refused.result.message).toContain('and is ["planted-plain"]');
  const rows = await opened(node, projectId);
  const messageOf = ({ callId }: typeof failed) => rows.find(({ id }) => id === callId)?.message;
  expect(messageOf(refused)).toBe(refused.result.message);
  expect(messageOf(failed)).toContain("planted-words");
  expect(JSON.stringify([refused, rows])).not.toContain("unknown-planted");
  const [dump] = await db.sql`select string_agg(t::text, ' ') as text from tool_calls t`;
  expect(JSON.stringify(dump)).not.toMatch(/planted|706c616e746564/);
});

test("the caller's secrets are in no message, whole or cut", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const secret = `planted-${"s".repeat(2_000)}`;
  const secrets = [secret];
  node.app.does(answer(400, `you sent ${"x".repeat(960)} ${secret}`), answer(400, { error: secret }));
  const messages: string[] = [];
  for (const args of [
    { ...note, text: secret },
    { ...note, text: secret },
    { ...note, text: [secret] },
  ]) {
    const { result } = await node.call(projectId, "add_note", { args, secrets });
    messages.push(JSON.stringify(result));
  }
  expect(messages.map((message) => message.includes("planted"))).toEqual([false, false, false]);
  expect(messages[2]).toContain("/text must be string");
});

test("a credential that an app quotes in a successful answer is neither in the result nor in the ledger, whole or cut", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const said = { id: `Bearer ${credential}`, state: `?key=${credential}`, lines: [`${credential}"`] };
  node.app.does(answer(200, said), answer(200, { id: `${"x".repeat(65_510)}${credential}` }));
  const { callId, result } = await node.call(projectId, "read_ticket");
  expect(result.value).toEqual({ id: "***", state: "?key=***", lines: ['***"'] });
  await node.call(projectId, "read_ticket");
  const rows = await opened(node, projectId);
  const whole = rows.find(({ id }) => id === callId);
  const cutOff = rows.find(({ id }) => id !== callId);
  expect(JSON.parse(whole?.result ?? "")).toEqual({ id: "***", state: "?key=***", lines: ['***"'] });
  expect(cutOff?.result?.length).toBeGreaterThan(60_000);
  expect(JSON.stringify([whole, cutOff])).not.toContain(credential.slice(0, 8));
});

test("neither names nor values of a sensitive argument are shown", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const pins = [{ "planted-name": true }, { deep: [{ "planted-name": null }] }, {}, [], false, 12];
  for (const pin of pins) {
    const pinned = { ...note, pin };
    const { result } = await node.call(projectId, "add_settings", { args: pinned, isDryRun: true });
    expect(JSON.parse(result.preview?.body ?? "")).toEqual({ text: note.text, pin: "***" });
    node.app.does(answer(400, { said: `you sent ${JSON.stringify(pin)}` }));
    const failed = await node.call(projectId, "add_settings", { args: pinned });
    expect(failed.result.outcome).toBe("provider_error");
    expect(JSON.stringify([result, failed])).not.toContain("planted");
  }
});

test("draining waits for every call under way, and for what it records", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  await node.caller.drain();
  const { promise, resolve } = Promise.withResolvers<AppAnswer>();
  node.app.does(() => promise);
  const calling = node.call(projectId, "add_note", { args: note });
  await expect.poll(() => node.app.requests.length).toBe(1);
  let isDrained = false;
  const draining = node.caller.drain().then(() => {
    isDrained = true;
  });
  expect(await node.rows(projectId)).toMatchObject([{ outcome: "running" }]);
  expect(isDrained).toBe(false);
  resolve(answer(200, { id: "t1" }));
  await draining;
  expect(await node.rows(projectId)).toMatchObject([{ outcome: "ok" }]);
  expect((await calling).result.outcome).toBe("ok");
  node.app.does(() => Promise.reject(new Error("a fault")));
  const failing = node.call(projectId, "read_ticket");
  await Promise.all([expect(failing).rejects.toThrow("a fault"), node.caller.drain()]);
});

test("a message with characters that the database cannot hold is stored without them, and affects no other call", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const odd = { id: "t1", "a\u0000b": 1, "\ud800": 2 };
  const results = await Promise.all([
    node.call(projectId, "read_ticket", { args: odd }),
    ...Array.from({ length: 20 }, () => node.call(projectId, "read_ticket")),
  ]);
  expect(results.map(({ result }) => result.outcome)).toEqual([
    "invalid_arguments",
    ...Array.from({ length: 20 }, () => "ok"),
  ]);
  expect(await node.rows(projectId)).toHaveLength(21);
});
