import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/server-process";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { hasEnded, reach } from "../jobs/project.ts";
import { isSameDecimal, jsonNumberText } from "../json-numbers.ts";
import { connect } from "../tools/project.ts";
import { type Provider, startProvider } from "../tools/provider.ts";
import { postToLedger, writeLedgerApp } from "./ledger-app.ts";
import { rounds } from "./rounds.ts";

// Numbers are JSON texts in these tests. A parser that is less exact would already change them here.

/** Ids that a double cannot tell apart, the ends of int64 and uint64, and numbers outside the range of a double. */
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
    // The ids have another digit in each round, so that no post repeats an earlier one.
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
  // Two ids that a double cannot tell apart make two different calls. With the same idempotency key, the second is refused.
  const other = { toolSlug: "ledger.update_entry", entityId: "ann", idempotencyKey: `k${ids[0]}` };
  const reused = await server.call("svc.v1.ToolsService/CallTool", {
    ...other,
    argumentsJson: `{"id":${ids[1]},"amount":${amount},"page":${ids[0]}}`,
  });
  expect(reused.reason).toBe("IDEMPOTENCY_KEY_REUSED");
});

/** Returns the number after a name in a JSON text, exactly as it is written. */
const numberIn = (text: string, name: string) => new RegExp(`"${name}":([-+.eE\\d]+)`).exec(text)?.[1] ?? "none";
const runs = { numRuns: 25 * rounds, endOnFailure: true };

test("any number that is posted reaches its event and its delivery as it is, or the post is quarantined with a reason", async () => {
  const { json } = await triggers("CreateSubscription", { endpointUrl: receiver.url, toolkitSlug: "ledger" });
  let owner = 5_000_000;
  await fc.assert(
    fc.asyncProperty(jsonNumberText, async (number) => {
      owner++;
      receiver.requests.length = 0;
      const posted = await postToLedger(server, `{"kind":"entry","owner":${owner},"id":${owner},"amount":${number}}`);
      expect(posted.status).toBe(202);
      if (posted.text !== '{"accepted":1}') {
        const { json: listed } = await server.admin("ListQuarantinedPosts", { toolkitSlug: "ledger", pageSize: 1 });
        expect(listed.posts[0].detail, number).toMatch(/amount/);
        return;
      }
      await until(() => receiver.requests.some(({ body }) => body.includes(`"id":${owner}`)));
      const delivered = receiver.requests.find(({ body }) => body.includes(`"id":${owner}`))?.body.toString() ?? "";
      expect(isSameDecimal(numberIn(delivered, "amount"), number), `${number} was delivered as ${delivered}`).toBe(
        true,
      );
      const { json: listed } = await triggers("ListEvents", { toolkitSlug: "ledger", pageSize: 1 });
      expect(isSameDecimal(numberIn(listed.events[0].payloadJson, "amount"), number), number).toBe(true);
    }),
    { ...runs, examples: [["45E+711"], ["1e400"]] },
  );
  await triggers("DeleteSubscription", { id: json.subscription.id });
});

test("posts that differ in far digits alone are two events, and one that is repeated is one", async () => {
  const rates = [
    ...["0.1234567890123456788", "0.1234567890123456789", "4503599627370497.5", "4503599627370497.6"],
    ...["1e-400", "2e-400", "0.1", "0.10000000000000001", "9007199254740993", "9007199254740992"],
  ];
  for (const rate of [...rates, ...rates]) {
    const posted = await postToLedger(server, `{"kind":"rate","owner":1,"rate":${rate}}`);
    expect(posted.status).toBe(202);
  }
  const { json } = await triggers("ListEvents", { triggerSlug: "ledger.rate_set", pageSize: 50 });
  const payloads = (json.events as { payloadJson: string }[]).map(({ payloadJson }) => payloadJson);
  expect(payloads.toReversed()).toEqual(rates.map((rate) => `{"rate":${rate}}`));
});

test("any number reaches the app as an argument and comes back in its answer, or is refused with a reason", async () => {
  let key = 0;
  await fc.assert(
    fc.asyncProperty(jsonNumberText, async (number) => {
      app.seen.length = 0;
      const { status, json, reason } = await server.call("svc.v1.ToolsService/CallTool", {
        ...{ toolSlug: "ledger.update_entry", entityId: "ann", idempotencyKey: `any-${key++}` },
        argumentsJson: `{"id":1,"amount":${number}}`,
      });
      if (status !== 200 || json.outcome !== "ok") {
        expect([app.seen.length, reason || json.message], number).toEqual([0, expect.stringMatching(/./)]);
        return;
      }
      const [sent] = app.seen;
      expect(isSameDecimal(numberIn(sent?.body ?? "", "amount"), number), `${number} was sent as ${sent?.body}`).toBe(
        true,
      );
      expect(isSameDecimal(numberIn(json.resultJson, "amount"), number), `${number} came as ${json.resultJson}`).toBe(
        true,
      );
    }),
    runs,
  );
});

test("any number that an app answers is in the result as it is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(jsonNumberText, { minLength: 1, maxLength: 20 }), async (numbers) => {
      app.answer = (_, res) => {
        const items = numbers.map((number) => `{"amount":${number}}`).join(",");
        res.writeHead(200, { "content-type": "application/json" }).end(`{"items":[${items}]}`);
      };
      const { json } = await server.call("svc.v1.ToolsService/CallTool", {
        ...{ toolSlug: "ledger.list_entries", entityId: "ann", argumentsJson: "{}" },
      });
      expect(json.outcome).toBe("ok");
      const found = [...json.resultJson.matchAll(/"amount":([-+.eE\d]+)/g)].map(([, number]) => number);
      expect(found.length).toBe(numbers.length);
      for (const [index, number] of numbers.entries())
        expect(isSameDecimal(found[index] ?? "none", number), `${number} came as ${found[index]}`).toBe(true);
    }),
    runs,
  );
});

test("any number in a program, its input and its rows is what is sent and what comes out, or is refused with a reason", async () => {
  let ended = 0;
  await fc.assert(
    fc.asyncProperty(jsonNumberText, jsonNumberText, async (number, row) => {
      app.seen.length = 0;
      app.answer = ({ method, body }, res) => {
        const answer = method === "PUT" ? body : `{"items":[{"id":1,"amount":${row}}]}`;
        res.writeHead(200, { "content-type": "application/json" }).end(answer);
      };
      const put = (id: string, value: string) =>
        `{"id":"${id}","call":"ledger.update_entry","entity":"ann","args":{"id":1,"amount":${value}}}`;
      const programJson = `{"version":1,"title":"Numbers","params":{"amount":${number}},
        "inputSchema":{"type":"object","properties":{"amount":{"type":"number","description":"An amount."}}},
        "input":{"amount":${number}},"steps":[
        {"id":"fetch","call":"ledger.list_entries","entity":"ann","rows":{"from":"items[]","keep":["id","amount"]}},
        ${put("written", number)},${put("named", '{"$ref":"params.amount"}')},${put("given", '{"$ref":"input.amount"}')},
        ${put("computed", '{"$cel":"params.amount"}')},
        {"id":"each","map":"fetch","do":[${put("row", '{"$ref":"row.amount"}')}]}],
        "result":{"own":{"$ref":"params.amount"},"cel":{"$cel":"has(input.amount) ? input.amount : 1.0"},"text":{"$text":"{params.amount}"}}}`;
      const submitted = await server.call("svc.v1.JobsService/SubmitJob", { programJson });
      if (submitted.status !== 200) {
        expect(submitted.reason, number).toMatch(/^PROGRAM_|^INPUT_|^JOB_/);
        return;
      }
      const job = await reach(server, submitted.json.job.id, hasEnded);
      const sent = app.seen.filter(({ method }) => method === "PUT").map(({ body }) => numberIn(body, "amount"));
      for (const [index, text] of sent.entries())
        expect(isSameDecimal(text, index === 4 ? row : number), `${number}, ${row}: sent ${sent.join(" ")}`).toBe(true);
      if (job.receipt.resultJson === "") {
        // The job's error only counts the rows that failed. The call of a row contains the reason.
        const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", { pageSize: 1 });
        const { outcome, message } = json.calls[0];
        const told = /^ROWS_FAILED/.test(job.lastError) ? `${outcome}: ${message}` : job.lastError;
        expect(told, `${number}, ${row}: ${job.lastError}`).toMatch(/number|digits|ARGUMENT/i);
        return;
      }
      ended++;
      const { resultJson } = job.receipt;
      for (const name of ["own", "cel"])
        expect(isSameDecimal(numberIn(resultJson, name), number), `${number} came out as ${resultJson}`).toBe(true);
      expect(isSameDecimal(/"text":"([^"]*)"/.exec(resultJson)?.[1] ?? "none", number), resultJson).toBe(true);
    }),
    {
      ...runs,
      numRuns: 12 * rounds,
      examples: [
        ["0.1234567890123456789", "1e-400"],
        ["-0", "-0.0"],
        ["528.0000000000000000004E38", "-60.00000000000000000012E+365"],
        ["1E2", "0.1"],
      ],
    },
  );
  // Nearly all of them are numbers that the app's schema accepts.
  expect(ended).toBeGreaterThan(6 * rounds);
}, 120_000);

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
