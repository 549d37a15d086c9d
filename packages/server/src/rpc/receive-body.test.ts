import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { longestTurnMs, processorBudgetMs } from "@svc/testing/processor";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
beforeAll(async () => {
  svc = await startTestServer();
});
afterAll(() => svc.stop());

const listEvents = "svc.v1.TriggersService/ListEvents";
const importToolkit = "svc.v1.CatalogService/ImportToolkit";

/** Sends the bytes of a body. Returns the status of the answer and the answer. */
async function send(path: string, body: Buffer): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${svc.key}`, "content-type": "application/json" };
  const req = request(`${svc.url}/${path}`, { method: "POST", headers }).end(body);
  const [res] = (await once(req, "response")) as [AsyncIterable<Buffer> & { statusCode: number }];
  let text = "";
  for await (const chunk of res) text += chunk;
  return { status: res.statusCode, text };
}

/** Returns what an error says, without the place of a fault in the text. */
function essenceOf({ status, text }: { status: number; text: string }): unknown {
  const { code, message = "", details } = JSON.parse(text);
  return { status, code, message: message.replace(/JSON: .*/, ""), debug: details?.[0]?.debug };
}

const nested = (levels: number) => `{"slug":${"[".repeat(levels)}${"]".repeat(levels)}}`;

test.each([
  ["valid", '{"pageSize":1}'],
  ["empty", ""],
  ["of no JSON", '{"a"'],
  ["of two values", "{} {}"],
  ["of a list", "[]"],
  ["of an unknown field", '{"nope":"\\u00e9\\ud83d\\ude00"}'],
  ["of a wrong type", '{"pageSize":"many"}'],
  ["of a number out of range", '{"pageSize":5000000000}'],
  ["of a number that is no integer", '{"pageSize":0.1234567890123456789}'],
  ["of a time out of its form", '{"until":"yesterday"}'],
  ["of a day that does not exist", '{"since":"2027-02-30T00:00:00Z"}'],
  ["of a repeated name", '{"pageSize":1,"pageSize":2}'],
  ["of a name repeated by an escape", '{"pageSize":1,"page\\u0053ize":2}'],
  ["of U+0000 in a text", '{"toolkitSlug":"a\\u0000b"}'],
  ["of an unknown enum", '{"view":"EVENT_VIEW_NOPE"}'],
  ["of 99 levels", nested(99)],
  ["of 101 levels", nested(101)],
  ["of no UTF-8", Buffer.from('{"toolkitSlug":"caf\xe9"}', "latin1")],
])("a large body %s is answered like a small one", async (_name, body) => {
  const small = Buffer.from(body);
  const large = Buffer.concat([Buffer.alloc(150_000, " "), small, Buffer.alloc(300_000, "\n")]);
  expect(essenceOf(await send(listEvents, large))).toEqual(essenceOf(await send(listEvents, small)));
});

test("a character and an escape that lie between two pieces arrive unchanged", async () => {
  for (const shift of [0, 1, 2, 3, 4, 5]) {
    const text = `${"x".repeat(shift)}${'é😀\\"\\u00e9\\\\'.repeat(40_000)}`;
    const { text: answer } = await send(importToolkit, Buffer.from(`{"slug":"${text}"}`));
    expect(answer).not.toContain("internal");
    const { text: unknown } = await send(
      importToolkit,
      Buffer.from(`{"a":"${text}","z${shift}":1,"b":"${text}\\ud83d"}`),
    );
    expect(unknown).toContain("is unknown");
  }
});

test("a client that leaves while its body is read leaves no error in the log", async () => {
  const before = svc.logs.length;
  const part = JSON.stringify({ nope: Array(60_000).fill(["a", 1]) });
  const body = Buffer.from(part.padEnd(12_000_000, " "));
  const headers = { authorization: `Bearer ${svc.key}`, "content-type": "application/json" };
  const ended = () => svc.logs.slice(before).filter((line) => line.includes(importToolkit));
  // The server has the whole body a moment after it is sent, and reads it for longer than that.
  const delays = [0, 2, 5, 10, 15, 20, 30, 40];
  for (const delayMs of delays) {
    const req = request(`${svc.url}/${importToolkit}`, { method: "POST", headers });
    req.on("error", () => {});
    await new Promise<void>((resolve) => req.end(body, resolve));
    await sleep(delayMs);
    req.destroy();
  }
  await until(() => ended().length >= delays.length);
  const errors = svc.logs.slice(before).filter((line) => JSON.parse(line).level >= 50 || line.includes('"error"'));
  expect(errors).toEqual([]);
});

test("a body of 12 MB does not hold the event loop", async () => {
  const part = `"name" of "x", \u00e9\n`;
  const text = JSON.stringify({ nope: part.repeat(600_000), other: Array(10_000).fill(["a", 1]) });
  const body = Buffer.from(text.padEnd(12_000_000, " "));
  const enough = processorBudgetMs(10);
  const refuse = async () => expect((await send(importToolkit, body)).status).toBe(400);
  expect(await longestTurnMs(refuse, enough)).toBeLessThan(processorBudgetMs(25));
});
