import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createAddressGuard } from "./net/address-guard.ts";
import { answerHeaderBytesMax, createGuardedAgent } from "./net/dial.ts";

/** Starts a server that answers each request with these pieces, one write for each. If `ends`, the server then ends the connection. */
async function startPeer(pieces: readonly (string | Buffer)[], ends: boolean): Promise<string> {
  const server = createServer((socket) => {
    socket.setNoDelay(true).on("error", () => {});
    socket.on("data", async () => {
      for (const piece of pieces) await new Promise((written) => socket.write(piece, written));
      if (ends) socket.end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

async function ask(pieces: readonly (string | Buffer)[], { ends = false, times = 1 } = {}) {
  const agent = createGuardedAgent({
    guard: createAddressGuard({ allowedRanges: ["127.0.0.0/8"] }),
    ...{ connections: 1, connectTimeoutMs: 2_000, headersTimeoutMs: 5_000, bodyTimeoutMs: 5_000 },
  });
  onTestFinished(() => agent.destroy());
  const origin = await startPeer(pieces, ends);
  const answers: { statusCode: number; text: string; header: unknown }[] = [];
  for (let asked = 0; asked < times; asked++) {
    const { statusCode, headers, body } = await agent.request({ origin, path: "/", method: "POST", body: "{}" });
    answers.push({ statusCode, text: await body.text(), header: headers["x-a"] });
  }
  return answers;
}

const ok = "HTTP/1.1 200 OK\r\nX-A: a\r\nContent-Length: 2\r\n\r\nok";
const answered = { statusCode: 200, text: "ok", header: "a" };
const interim = (status: string, headers = "") => `HTTP/1.1 ${status}\r\n${headers}\r\n`;

test.each<[string, string[]]>([
  ["100 in one piece with the answer", [`${interim("100 Continue")}${ok}`]],
  ["100 by itself, in two pieces", ["HTTP/1.1 100 Con", "tinue\r\n\r\n", ok]],
  ["100 twice", [interim("100 Continue"), interim("100 Continue"), ok]],
  ["100 with a length", [interim("100 Continue", "Content-Length: 0\r\n"), ok]],
  ["100 with Connection: close", [interim("100 Continue", "Connection: close\r\n"), ok]],
  ["100 without a reason", ["HTTP/1.1 100\r\n\r\n", ok]],
  ["102, 103 and 103", [interim("102 Processing"), interim("103 Early Hints", "Link: </a>\r\n").repeat(2), ok]],
  ["a 1xx that is not known", [interim("142 Odd", "X-A: other\r\n"), ok]],
  ["100 with 100 KiB of headers", [interim("100 Continue", `X-Long: ${"x".repeat(102_400)}\r\n`), ok]],
])("%s comes before the answer, and is not it; the next request is answered too", async (_name, pieces) => {
  expect(await ask(pieces, { times: 2 })).toEqual([answered, answered]);
});

test("a 1xx of HTTP/1.0 comes before the answer", async () => {
  const answer = "HTTP/1.0 200 OK\r\nX-A: a\r\n\r\nok";
  expect(await ask(["HTTP/1.0 100 Continue\r\n\r\n", answer], { ends: true })).toEqual([answered]);
});

test.each<[string, string | Buffer]>([
  ["a folded line", "HTTP/1.1 200 OK\r\nX-A: one\r\n\t two\r\nContent-Length: 2\r\n\r\nok"],
  ["names in any case", "HTTP/1.1 200 OK\r\nx-A:\tone two \r\nCONTENT-LENGTH: 2\r\n\r\nok"],
  ["no reason", "HTTP/1.1 200\r\nX-A: one two\r\nContent-Length: 2\r\n\r\nok"],
  [
    "chunk extensions and trailers",
    'HTTP/1.1 200 OK\r\nX-A: one two\r\nTransfer-Encoding: Chunked\r\n\r\n1;a=b;c="d"\r\no\r\n01\r\nk\r\n0\r\nX-T: x\r\n\r\n',
  ],
  [
    "an upgrade that is offered",
    "HTTP/1.1 200 OK\r\nX-A: one two\r\nUpgrade: h2\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\nok",
  ],
])("%s of an answer is read", async (_name, answer) => {
  const read = { statusCode: 200, text: "ok", header: expect.stringMatching(/^one\s+two ?$/) };
  expect(await ask([answer], { times: 2 })).toEqual([read, read]);
});

test.each<[string, string, number, string]>([
  ["HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nok", 200, "ok"],
  ["Connection: close", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok", 200, "ok"],
  ["204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok", 204, ""],
  ["205", "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", 205, ""],
  ["304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, ""],
])("an answer of %s ends where HTTP has it end", async (_name, answer, statusCode, text) => {
  expect(await ask([answer], { ends: true, times: 2 })).toMatchObject([
    { statusCode, text },
    { statusCode, text },
  ]);
});

const withHeaders = (bytes: number) =>
  `HTTP/1.1 200 OK\r\n${"X-Long: ".concat("x".repeat(8_000), "\r\n").repeat(Math.floor(bytes / 8_006))}X-A: a\r\nContent-Length: 2\r\n\r\nok`;

test("headers of 64 KiB and more are read, up to the bound, and an error of their own beyond", async () => {
  expect(await ask([withHeaders(65_536)])).toEqual([answered]);
  expect(await ask([withHeaders(answerHeaderBytesMax - 8_100)])).toEqual([answered]);
  await expect(ask([withHeaders(answerHeaderBytesMax + 16_000)])).rejects.toMatchObject({
    code: "UND_ERR_HEADERS_OVERFLOW",
  });
});

test("what is not HTTP is an error", async () => {
  for (const answer of [
    "SSH-2.0-OpenSSH_9.2\r\n",
    "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
  ])
    await expect(ask([answer], { ends: true })).rejects.toThrow();
});
