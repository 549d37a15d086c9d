import { createId, createSealer } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { testSealer } from "@svc/testing/node";
import { afterAll, expect, test } from "vitest";
import { answerOf } from "../../service/call-request.ts";
import type { CallRequest } from "../call-request.ts";
import { addProject, createTestNode } from "../test-node.ts";
import { answer, cut, timedOut } from "../test-transport.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const note = { id: "t1", text: "hello" };

test("a repeat gets the recorded answer and sends nothing, even if account and arguments are no longer valid", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  node.app.does(answer(200, '{"id":"t1","state":12345678901234567890,"lines":["x"]}'));
  const first = await node.call(projectId, "add_note", { args: note, idempotencyKey: "k" });
  const reversed = { text: note.text, id: note.id };
  node.accounts.resolve = async () => ({ kind: "no_account", message: "gone" });
  const repeat = await node.call(projectId, "add_note", { args: reversed, idempotencyKey: "k" });
  expect(repeat).toEqual({ ...first, isReplay: true });
  expect(node.app.requests).toHaveLength(1);
  expect(await node.rows(projectId)).toHaveLength(1);
});

// A value under `link` is masked in the ledger, so the answer of `add_note` is stored a second time. The answer of `charge` is stored once.
test.each([
  ["charge", { id: "t1", state: "open" }, ["arguments", "result"]],
  ["charge", { id: "t1", state: "x".repeat(70_000) }, ["arguments", "result", "replay"]],
  ["add_note", { id: "t1", link: "https://desk.example.com/1" }, ["arguments", "result", "replay"]],
] as const)(
  "a repeat of %s gets the stored answer, which is sealed once if the ledger shows it whole",
  async (tool, answered, sealed) => {
    const columns: string[] = [];
    const seal: typeof testSealer.seal = (plaintext, context) => {
      columns.push(context.slice(context.lastIndexOf("/") + 1));
      return testSealer.seal(plaintext, context);
    };
    const node = createTestNode(db, { sealer: { ...testSealer, seal } });
    const projectId = await addProject(db);
    node.app.does(answer(201, answered));
    const first = await node.call(projectId, tool, { args: note, idempotencyKey: "k" });
    expect([first.result.outcome, columns]).toEqual(["ok", sealed]);
    const other = createTestNode(db, { clock: node.clock });
    const repeat = await other.call(projectId, tool, { args: note, idempotencyKey: "k" });
    expect(other.app.requests).toEqual([]);
    expect(repeat).toMatchObject({ callId: first.callId, isReplay: true });
    const { outcome, message, providerStatus } = first.result;
    expect(repeat.result).toMatchObject({ outcome, message, providerStatus });
    if (JSON.stringify(answered).length < 65_536) expect(repeat.result).toEqual(first.result);
    else expect(repeat.result.warnings).toEqual([expect.stringMatching(/^truncated: \d+ of 70022 bytes/)]);
  },
);

test("a call that holds a key's former name holds the key", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const first = await node.call(projectId, "add_note", { args: note, idempotencyKey: "former" });
  const renamed = { args: note, idempotencyKey: "k", job: { formerKey: "former" } };
  expect(await node.call(projectId, "add_note", renamed)).toEqual({ ...first, isReplay: true });
  expect(node.app.requests).toHaveLength(1);
});

test("long integers of a recorded answer keep their digits", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  node.app.does(answer(200, '{"id":"a","lines":[12345678901234567890]}'));
  const call = () => node.call(projectId, "read_ticket", { idempotencyKey: "k" });
  await call();
  expect(JSON.stringify((await call()).result.value)).toBe('{"id":"a","lines":[12345678901234567890]}');
});

test("a key that was used with other arguments, another tool or account is refused", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  await node.call(projectId, "add_note", { args: note, idempotencyKey: "k" });
  const reused = { outcome: "key_reused", idempotencyKey: "k" };
  const others: [string, Partial<CallRequest>][] = [
    ["add_note", { args: { ...note, text: "other" } }],
    ["charge", { args: note }],
    ["add_note", { args: note, entityId: "bob" }],
    ["add_note", { args: note, accountId: createId("acc", 5) }],
  ];
  for (const [tool, changes] of others) {
    expect(await node.ask(projectId, tool, { ...changes, idempotencyKey: "k" })).toEqual(reused);
  }
  expect(node.app.requests).toHaveLength(1);
  expect((await node.call(await addProject(db), "charge", { args: note, idempotencyKey: "k" })).isReplay).toBe(false);
});

test("a repeat is recognised on any node, whichever vault key was the first when the call was made", async () => {
  const projectId = await addProject(db);
  const [old, young] = [3, 4].map((byte) => ({ id: `k${byte}`, secret: Buffer.alloc(32, byte) }));
  const call = (keys: Parameters<typeof createSealer>[0], changes: Partial<CallRequest> = {}) =>
    createTestNode(db, { sealer: createSealer(keys) }).ask(projectId, "add_note", {
      args: note,
      idempotencyKey: "k",
      ...changes,
    });
  const first = await call([old!]);
  for (const keys of [[young!, old!], [old!, young!], [old!]]) {
    expect(await call(keys)).toMatchObject({ answer: { callId: answerOf(first).callId, isReplay: true } });
  }
  const other = { args: { ...note, text: "other" } };
  expect(await call([young!, old!], other)).toEqual({ outcome: "key_reused", idempotencyKey: "k" });
});

test("while the first call runs a repeat is refused, on any node; of many at once one is executed", async () => {
  const projectId = await addProject(db);
  const nodes = [createTestNode(db), createTestNode(db)];
  const release = Promise.withResolvers<void>();
  const slow = async () => {
    await release.promise;
    return answer(200, { id: "t1" });
  };
  for (const node of nodes) node.app.does(slow);
  const calls = Array.from({ length: 20 }, (_, index) =>
    nodes[index % 2]!.ask(projectId, "add_note", { args: note, idempotencyKey: "k" }),
  );
  expect(await Promise.race(calls)).toEqual({ outcome: "in_progress", idempotencyKey: "k" });
  release.resolve();
  const all = await Promise.all(calls);
  const executed = all.filter((called) => called.outcome === "answered" && !called.answer.isReplay);
  expect(executed).toHaveLength(1);
  expect(new Set(all.map(({ outcome }) => outcome))).toEqual(new Set(["answered", "in_progress"]));
  expect(nodes.flatMap(({ app }) => app.requests)).toHaveLength(1);
});

test("after 24 hours a key is free", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const call = () => node.call(projectId, "add_note", { args: note, idempotencyKey: "k" });
  const first = await call();
  node.clock.advance(24 * 3_600_000 - 1);
  expect((await call()).callId).toBe(first.callId);
  node.clock.advance(1);
  const second = await call();
  expect([second.isReplay, node.app.requests.length]).toEqual([false, 2]);
  expect((await call()).callId).toBe(second.callId);
});

test("a repeat returns the kept 64 KiB at most, and says so", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
  node.app.does(answer(200, { id: "t1", lines }));
  const call = () => node.call(projectId, "read_ticket", { idempotencyKey: "k" });
  const first = await call();
  expect([first.result.warnings, (first.result.value as { lines: string[] }).lines.length]).toEqual([[], 20_000]);
  const { result } = await call();
  expect(Buffer.byteLength(JSON.stringify(result.value))).toBeLessThanOrEqual(65_536);
  expect((result.value as { lines: string[] }).lines.length).toBeGreaterThan(4_000);
  expect(result.warnings).toEqual([expect.stringMatching(/^truncated: /)]);
  expect(await node.rows(projectId)).toMatchObject([{ is_truncated: true }]);
});

test.each([
  ["outcome_unknown", "add_note", cut, true],
  ["provider_error", "add_note", answer(500), true],
  ["provider_error", "add_note", answer(400), false],
  ["provider_error", "add_note", answer(409), false],
  ["rate_limited", "add_note", answer(429), false],
  ["account_unusable", "add_note", answer(401), false],
  ["unreachable", "add_note", { kind: "refused", message: "no" }, false],
  ["provider_error", "read_ticket", answer(500), false],
  ["timeout", "read_ticket", timedOut, false],
] as const)("%s of %s binds its key: %#", async (outcome, tool, move, binds) => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const args = tool === "add_note" ? note : { id: "t1" };
  node.app.does(move);
  const first = await node.call(projectId, tool, { args, idempotencyKey: "k" });
  expect([first.result.outcome, first.result.retryable && binds]).toEqual([outcome, false]);
  const second = await node.call(projectId, tool, { args, idempotencyKey: "k" });
  expect([second.isReplay, second.result.outcome]).toEqual(binds ? [true, outcome] : [false, "ok"]);
});

test("calls that need confirmation and refused calls bind no key", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const tries: [string, Partial<CallRequest>][] = [
    ["delete_ticket", {}],
    ["add_note", { args: {} }],
    ["read_ticket", { entityId: "nobody" }],
    ["hidden", {}],
  ];
  for (const [tool, changes] of tries) await node.call(projectId, tool, { ...changes, idempotencyKey: "k" });
  const { isReplay, result } = await node.call(projectId, "add_note", { args: note, idempotencyKey: "k" });
  expect([isReplay, result.outcome]).toEqual([false, "ok"]);
});

test("the app's key is the same for a repeat of a call that was not executed, another for other arguments, and a caller's own wins", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const keyOf = async (changes: Partial<CallRequest>) => {
    node.app.does(answer(429));
    await node.call(projectId, "charge", { args: note, ...changes });
    return node.app.requests.at(-1)?.headers["idempotency-key"];
  };
  const first = await keyOf({ idempotencyKey: "k" });
  expect(await keyOf({ idempotencyKey: "k" })).toBe(first);
  expect(await keyOf({ idempotencyKey: "k", args: { ...note, text: "other" } })).not.toBe(first);
  expect(await keyOf({})).not.toBe(await keyOf({}));
  expect(await keyOf({ appKey: "job-step" })).toBe("job-step");
  await node.call(projectId, "pay", { args: { ...note, key: "mine" } });
  expect(JSON.parse(node.app.requests.at(-1)?.body ?? "")).toMatchObject({ key: "mine" });
});
