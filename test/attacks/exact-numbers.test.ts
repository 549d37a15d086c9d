import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/server-process";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { hasEnded, reach } from "../jobs/project.ts";
import { connect } from "../tools/project.ts";
import { type Provider, startProvider } from "../tools/provider.ts";
import { postToLedger, writeLedgerApp } from "./ledger-app.ts";
import { rounds } from "./rounds.ts";

// Numbers as JSON text throughout: parsed and written by anything less exact, they would be others here already.

/** Neighbours that are one double, the ends of int64 and uint64, and what no double is at all. */
const ids = [
  "9007199254740992",
  "9007199254740993",
  "9007199254740994",
  "-9223372036854775808",
  "9223372036854775807",
  "18446744073709551615",
  "123456789012345678901234567890",
];
const amount = "12345678901234567.89";

let app: Provider;
let definitions: Awaited<ReturnType<typeof writeLedgerApp>>;
let server: TestServer;
let receiver: TestReceiver;

beforeAll(async () => {
  app = await startProvider();
  definitions = await writeLedgerApp(app.url);
  server = await startTestServer({ variables: definitions.variables });
  receiver = await startTestReceiver();
  await connect(server, "ledger", { scheme: "api_key", apiKey: "k" });
});
afterAll(async () => {
  await server?.stop();
  await app.close();
  await receiver[Symbol.asyncDispose]();
  await definitions[Symbol.asyncDispose]();
});
beforeEach(() => {
  app.reset();
  app.answer = ({ method, body }, res) => {
    const items = ids.map((id) => `{"id":${id},"amount":${amount}}`).join(",");
    res.writeHead(200, { "content-type": "application/json" }).end(method === "PUT" ? body : `{"items":[${items}]}`);
  };
});

const triggers = (call: string, body: object) => server.call(`svc.v1.TriggersService/${call}`, body);

test("from post over event, delivery and replay, no digit is lost", async () => {
  const { json } = await triggers("CreateSubscription", { endpointUrl: receiver.url, toolkitSlug: "ledger" });
  expect(json.warnings).toEqual([]);
  for (let round = 0; round < rounds; round++) {
    receiver.requests.length = 0;
    // Another number of digits each round, so that no post is a repetition.
    const own = ids.map((id) => `${id}${round === 0 ? "" : round}`);
    for (const id of [...own, ...own]) {
      const posted = await postToLedger(server, `{"kind":"entry","owner":${id},"id":${id},"amount":${amount}}`);
      expect([posted.status, posted.text]).toEqual([202, '{"accepted":1}']);
    }
    const payloads = own.map((id) => `{"id":${id},"amount":${amount}}`);
    const { json: listed } = await triggers("ListEvents", { toolkitSlug: "ledger", pageSize: ids.length });
    const events = listed.events.toReversed() as { id: string; payloadJson: string }[];
    expect(events.map(({ payloadJson }) => payloadJson)).toEqual(payloads);
    const { json: got } = await triggers("GetEvent", { id: events[1]?.id });
    expect(got.event.payloadJson).toBe(payloads[1]);
    const delivered = () => receiver.requests.map(({ body }) => /"payload":(.*)\}$/.exec(body.toString())?.[1] ?? "");
    await until(() => receiver.requests.length === ids.length);
    expect(delivered().sort()).toEqual([...payloads].sort());
    expect((await triggers("ReplayEvent", { eventId: events[1]?.id })).status).toBe(200);
    await until(() => receiver.requests.length === ids.length + 1);
    expect(delivered().at(-1)).toBe(payloads[1]);
  }
});

test("in a call's arguments, its request, its result, its repetition and the ledger, no digit is lost", async () => {
  for (const id of ids) {
    app.seen.length = 0;
    const argumentsJson = `{"id":${id},"amount":${amount},"page":${id}}`;
    const request = { toolSlug: "ledger.update_entry", argumentsJson, entityId: "ann", idempotencyKey: `k${id}` };
    for (const replayed of [false, true]) {
      const { json } = await server.call("svc.v1.ToolsService/CallTool", request);
      expect(json).toMatchObject({ outcome: "ok", replayed, resultJson: `{"id":${id},"amount":${amount}}` });
    }
    expect(app.seen.map(({ target, body }) => [target, body])).toEqual([
      [`/entries/${id}?page=${id}`, `{"id":${id},"amount":${amount}}`],
    ]);
    const { json: listed } = await server.call("svc.v1.ToolsService/ListToolCalls", { pageSize: 1 });
    const { json: got } = await server.call("svc.v1.ToolsService/GetToolCall", { id: listed.calls[0].id });
    expect(got.call).toMatchObject({ argumentsJson, resultJson: `{"id":${id},"amount":${amount}}` });
  }
  // Neighbours that are one double are two calls: under one key the second is refused.
  const other = { toolSlug: "ledger.update_entry", entityId: "ann", idempotencyKey: `k${ids[0]}` };
  const reused = await server.call("svc.v1.ToolsService/CallTool", {
    ...other,
    argumentsJson: `{"id":${ids[1]},"amount":${amount},"page":${ids[0]}}`,
  });
  expect(reused.reason).toBe("IDEMPOTENCY_KEY_REUSED");
});

test("over MCP neither arguments nor structured content nor text lose a digit", async () => {
  for (const id of ids) {
    app.seen.length = 0;
    const args = `{"slug":"ledger.update_entry","entity_id":"ann","arguments":{"id":${id},"amount":${amount}}}`;
    const answer = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${server.key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_tool","arguments":${args}}}`,
    });
    const text = await answer.text();
    expect(text).toContain(`"result":{"id":${id},"amount":${amount}}`);
    expect(text).toContain(JSON.stringify(`{"id":${id},"amount":${amount}}`));
    expect(app.seen.map(({ target, body }) => [target, body])).toEqual([
      [`/entries/${id}`, `{"id":${id},"amount":${amount}}`],
    ]);
  }
});

test("in a job's params, rows, expressions, reductions, calls and result, no digit is lost", async () => {
  const [, wanted = ""] = ids;
  const programJson = `{
    "version": 1,
    "title": "Correct one entry",
    "params": { "wanted": ${wanted}, "amount": ${amount} },
    "steps": [
      { "id": "fetch", "call": "ledger.list_entries", "entity": "ann", "rows": { "from": "items[]", "keep": ["id", "amount"] } },
      { "id": "sums", "reduce": "fetch", "as": { "least": "min id", "most": "max id", "all": "sum id" } },
      { "id": "one", "filter": "fetch", "where": "row.id == params.wanted && row.id != 9007199254740992" },
      { "id": "write", "map": "one", "do": [
        { "id": "put", "call": "ledger.update_entry", "entity": "ann",
          "args": { "id": { "$ref": "row.id" }, "amount": { "$ref": "params.amount" }, "page": 18446744073709551615 } }
      ] },
      { "id": "count", "reduce": "write", "as": { "written": "count ok" } }
    ],
    "result": {
      "written": { "$ref": "steps.count.written" }, "wanted": { "$ref": "params.wanted" },
      "least": { "$ref": "steps.sums.least" }, "most": { "$ref": "steps.sums.most" }, "all": { "$ref": "steps.sums.all" },
      "text": { "$text": "entry {params.wanted}" }
    }
  }`;
  const submitted = await server.call("svc.v1.JobsService/SubmitJob", { programJson });
  expect(submitted.status, JSON.stringify(submitted.json)).toBe(200);
  const job = await reach(server, submitted.json.job.id, hasEnded);
  const sum = ids.reduce((total, id) => total + BigInt(id), 0n);
  expect(job.receipt.resultJson).toBe(
    `{"written":1,"wanted":${wanted},"least":-9223372036854775808,"most":123456789012345678901234567890,"all":${sum},"text":"entry ${wanted}"}`,
  );
  const written = app.seen.filter(({ method }) => method === "PUT");
  expect(written.map(({ target, body }) => [target, body])).toEqual([
    [`/entries/${wanted}?page=18446744073709551615`, `{"id":${wanted},"amount":${amount}}`],
  ]);
});
