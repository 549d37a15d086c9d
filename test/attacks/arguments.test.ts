import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { createTestDatabase } from "@svc/testing/database";
import { processorBudgetMs } from "@svc/testing/processor";
import { bootstrapKey, call, type ServerProcess, startServerProcess, vaultKey } from "@svc/testing/server-process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bystander, residentMiB, startBystander } from "./bystander.ts";
import { cpuMsOf } from "./cpu.ts";
import { startFlood } from "./flood.ts";
import { createProjectKey } from "./projects.ts";
import { bystanderP99MaxMs, rounds, rssMaxMiB, timed } from "./rounds.ts";

const isWhole = rounds > 1;
/** Maximum processor time of the server for one refusal, in milliseconds: that of reading the request, and little more. */
const cpuMsMax = 250;
const crm = fileURLToPath(new URL("../../toolkits/sales_crm", import.meta.url));
const closing: (() => Promise<unknown>)[] = [];
let server: ServerProcess;
let bystander: Bystander;
let otherKey: string;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-attack-"));
  closing.push(() => rm(folder, { recursive: true }));
  await cp(crm, join(folder, "sales_crm"), { recursive: true });
  const database = await createTestDatabase();
  closing.push(() => database.drop());
  server = await startServerProcess({
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_TOOLKITS: folder,
    SVC_SANDBOX: "force",
  });
  closing.push(() => server.end("SIGKILL"));
  const account = { toolkitSlug: "sales_crm", entityId: "ops", apiKey: "sandbox" };
  await call(server, "ConnectionsService/InitiateConnection", account);
  otherKey = await createProjectKey(server, "bystander");
  bystander = await startBystander(server, { key: otherKey });
  closing.push(async () => bystander[Symbol.asyncDispose]());
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, 1]));
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

type Post = { readonly path: string; readonly body: string };
const rpc = (method: string, body: object | string): Post => ({
  path: `/svc.v1.${method}`,
  body: typeof body === "string" ? body : JSON.stringify(body),
});
const callTool = (argumentsJson: string) =>
  rpc("ToolsService/CallTool", { toolSlug: "sales_crm.list_deals", entityId: "ops", argumentsJson });
const callOverMcp = (args: object): Post => ({
  path: "/mcp",
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "call_tool", arguments: { slug: "sales_crm.list_deals", entity_id: "ops", ...args } },
  }),
});
const submit = (program: object) =>
  rpc("JobsService/SubmitJob", { programJson: JSON.stringify({ version: 1, title: "Attack", ...program }) });
const listDeals = (args: object) => ({ id: "a", call: "sales_crm.list_deals", entity: "ops", args });
const ladder = (count: number) => ({
  steps: [{ id: "gate", judge: "ask" }],
  points: {
    ask: {
      question: "?",
      continuations: ["proceed"],
      escalation: Array.from({ length: count }, (_, n) => ({ principal: `nobody-${n}`, timeout: "1m" })),
    },
  },
});
const putContact = (argsJson: string) => {
  const reach = { toolSlug: "sales_crm.list_deals", entityId: "ops", argsJson };
  return rpc("ContactsService/PutContact", { contact: { principalId: "lead", name: "Lead", reach } });
};
const publish = (definition: object) =>
  rpc("CatalogService/PublishToolkit", { definitionJson: JSON.stringify(definition) });

/** Requests that must be refused. Each has about 650 kB, or as much as its path accepts. */
const posts: readonly (readonly [string, Post])[] = [
  ["60,000 unknown arguments", callTool(JSON.stringify(named(60_000)))],
  ["60,000 unknown arguments of a faulty kind", callTool(JSON.stringify({ limit: {}, ...named(60_000) }))],
  ["1,000 unknown arguments", callTool(JSON.stringify(named(1_000)))],
  ["deep arguments", callTool(`{"limit":${nested(400_000)}}`)],
  [
    "300,000 paths of fields",
    rpc("ToolsService/CallTool", { toolSlug: "a.b", fields: "a,".repeat(300_000).split(",") }),
  ],
  ["60,000 unknown arguments over MCP", callOverMcp({ arguments: named(60_000) })],
  ["60,000 unknown properties over MCP", callOverMcp(named(60_000))],
  ["60,000 unknown fields of a request", rpc("ToolsService/CallTool", { toolSlug: "a.b", ...named(60_000) })],
  ["a deep request", rpc("ToolsService/CallTool", `{"nope":${nested(500_000)}}`)],
  ["a long unknown field", rpc("ToolsService/CallTool", { ["x".repeat(900_000)]: 1 })],
  ["a ladder of 5,000 hops", submit(ladder(5_000))],
  ["a program with 15,000 unknown arguments", submit({ steps: [listDeals(named(15_000))] })],
  ["a program with 15,000 unknown names", submit({ steps: [listDeals({})], ...named(15_000) })],
  ["a program of 5,000 faulty references", submit({ steps: [listDeals(referred(5_000))] })],
  ["a program of 650 kB", submit({ steps: [listDeals(named(40_000))] })],
  ["a reach of 60,000 unknown arguments", putContact(JSON.stringify(named(60_000)))],
  ["a deep reach", putContact(`{"limit":${nested(400_000)}}`)],
  ["a definition of 30,000 unknown names", publish({ toolkit: named(30_000), tools: {} })],
  [
    "a definition of 30,000 properties",
    publish({ toolkit: {}, tools: { a: { input: { properties: named(30_000) } } } }),
  ],
];

function referred(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, { $ref: "steps.none.id" }]));
}

async function send({ path, body }: Post): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${bootstrapKey}`, "content-type": "application/json" };
  const accept = "application/json, text/event-stream";
  const answer = await fetch(server.url + path, { method: "POST", headers: { ...headers, accept }, body });
  return { status: answer.status, text: await answer.text() };
}

/** Number of requests at the same time. It is large enough to tell the cost of one request from that of all. */
const atOnce = isWhole ? 10 : 2;

const refusal = /invalid_argument|resource_exhausted|-32602|"isError":true/;

test.each(posts)("refused briefly, at little cost: %s", async (_, post) => {
  const before = await cpuMsOf(server.process.pid);
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(Array.from({ length: atOnce }, () => send(post)));
    for (const { text } of answers) {
      expect(text.length).toBeLessThan(post.body.length + 8_000);
      // The server may have no room for so many large bodies of one sender.
      expect(text).toMatch(new RegExp(`${refusal.source}|NODE_OVERLOADED`));
    }
    expect(answers.some(({ text }) => refusal.test(text))).toBe(true);
  }
  const cpuMs = (await cpuMsOf(server.process.pid)) - before;
  expect(cpuMs / (rounds * atOnce)).toBeLessThan(processorBudgetMs(cpuMsMax));
  expect(await residentMiB(server.process.pid)).toBeLessThan(rssMaxMiB);
});

test("another project's calls were answered meanwhile", async () => {
  const { calls, failures, p99Ms } = await bystander.stop();
  expect(calls).toBeGreaterThan(0);
  expect(failures).toEqual([]);
  // If other test files run at the same time, calls may be queued for reasons outside the server. So in `npm test` only the cost above is
  // checked.
  if (isWhole) expect(p99Ms).toBeLessThan(bystanderP99MaxMs);
});

/**
 * Texts that need far more memory when they are parsed: lists of empty objects, names, and texts that turn out not to be JSON only at their
 * end.
 */
const swelling: readonly (readonly [string, string])[] = [
  ["99,000 empty objects", callTool(`{"limit":[${"{},".repeat(99_000)}{}]}`).body],
  ["300,000 empty objects", callTool(`{"limit":[${"{},".repeat(300_000)}{}]}`).body],
  ["60,000 empty objects with names", callTool(JSON.stringify(named(60_000)).replaceAll(":1,", ":{},")).body],
  ["a request of lists that is cut", `[${"[0,".repeat(90)}${"{},".repeat(340_000)}`],
  ["170,000 escaped letters", `{"argumentsJson":"${"\\u0061".repeat(170_000)}"}`],
];
const everyFlood = swelling.flatMap(([name, body]) => [
  [name, "plain", body, false] as const,
  [name, "compressed", body, true] as const,
]);

// `npm test` has no time for floods of requests.
const floods = isWhole ? everyFlood : [];

test.each(everyFlood)("whoever sends nothing else has an answer to %s, %s", async (_name, _how, body, isCompressed) => {
  const answer = await fetch(`${server.url}/svc.v1.ToolsService/CallTool`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${bootstrapKey}`,
      "content-type": "application/json",
      ...(isCompressed ? { "content-encoding": "gzip" } : {}),
    },
    body: isCompressed ? gzipSync(body) : body,
  });
  expect(await answer.text()).toMatch(refusal);
});

test.each(floods)("workers that send %s, %s, cost others little", timed, async (name, how, body, isCompressed) => {
  await using other = await startBystander(server, { key: await otherKey });
  await using flood = await startFlood(server, {
    key: bootstrapKey,
    call: "ToolsService/CallTool",
    body,
    workers: 150,
    isCompressed,
  });
  // Number of memory checks, ten a second, during which the flood goes on.
  const looks = 80;
  let look = 0;
  let most = 0;
  for await (const _ of setInterval(100)) {
    most = Math.max(most, await residentMiB(server.process.pid));
    look += 1;
    if (look === looks) break;
  }
  const { failures, p99Ms } = await other.stop();
  process.stdout.write(
    `workers that send ${name}, ${how}: ${most.toFixed(0)} MiB at most, p99 ${p99Ms.toFixed(0)} ms\n`,
  );
  expect(most).toBeLessThan(rssMaxMiB);
  expect(failures).toEqual([]);
  expect(p99Ms).toBeLessThan(bystanderP99MaxMs);
  const { statuses } = await flood.stop();
  expect(Object.keys(statuses).filter((status) => !["200", "400", "503"].includes(status))).toEqual([]);
});
