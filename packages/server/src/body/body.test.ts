import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { systemClock } from "@svc/core";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readBody, watchChunks } from "./body.ts";
import { type BodyBudget, createBodyBudget } from "./body-budget.ts";

let budget: BodyBudget;
let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer(async (req, res) => {
    const charge = budget.open("project:one", "192.0.2.1");
    try {
      const body = await readBody(req, 8_000_000, charge);
      const digest = createHash("sha256").update(body).digest("hex");
      res.end(`${body.byteLength} ${budget.stats().bytes} ${digest}`);
    } catch (error) {
      res.end((error as Error).message);
    } finally {
      charge.release();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  budget = createBodyBudget({ clock: systemClock, bytesMax: 30_000_000 });
});

const digestOf = (body: Buffer) => createHash("sha256").update(body).digest("hex");

/** Sends a body. Returns the number of bytes that the server received, the number of charged bytes, and the digest. */
async function send(body: Buffer): Promise<[number, number, string]> {
  const answer = await fetch(url, { method: "POST", body });
  const [bytes, charged, digest = ""] = (await answer.text()).split(" ");
  return [Number(bytes), Number(charged), digest];
}

test.each([0, 1, 4_095, 65_536, 65_537, 1_000_000, 8_000_000])(
  "a body of %i bytes is read as it was sent",
  async (size) => {
    const body = Buffer.from(Array.from({ length: size }, (_, index) => index % 251));
    expect(await send(body)).toEqual([size, size, digestOf(body)]);
    expect(budget.stats().bytes).toBe(0);
  },
);

/** Sends a body in these chunks. Returns what the server received. */
async function sendChunks(pieces: readonly Buffer[]): Promise<[number, number, string]> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const chunks = pieces.flatMap((piece) => [Buffer.from(`${piece.byteLength.toString(16)}\r\n`), piece, "\r\n"]);
  socket.write("POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
  socket.write(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))));
  socket.write("0\r\n\r\n");
  const [data] = await once(socket, "data");
  socket.destroy();
  const [bytes, charged, digest = ""] = String(data)
    .split("\r\n\r\n")[1]!
    .replace(/^\w+\r\n/, "")
    .trim()
    .split(/\s/);
  return [Number(bytes), Number(charged), digest];
}

test("a body in pieces of one byte costs hardly more than its bytes, and large pieces between them keep their place", async () => {
  const pieces = Array.from({ length: 9_000 }, (_, index) =>
    index % 3_000 === 1 ? Buffer.alloc(5_000, index) : Buffer.from([index % 251]),
  );
  const [bytes, charged, digest] = await sendChunks(pieces);
  const whole = Buffer.concat(pieces);
  expect([bytes, digest]).toEqual([whole.byteLength, digestOf(whole)]);
  expect(charged).toBeLessThan(2 * whole.byteLength);
});

test("however a body is cut, it is read as it was sent, and at most twice that is charged", async () => {
  const sizes = fc.oneof(
    fc.integer({ min: 1, max: 300 }),
    fc.integer({ min: 4_090, max: 4_100 }),
    fc.integer({ min: 1, max: 400_000 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(sizes, { minLength: 1, maxLength: 20 }), async (lengths) => {
      const pieces = lengths.map((length, index) => Buffer.alloc(length, `${index}:${length};`));
      const whole = Buffer.concat(pieces);
      const [bytes, charged, digest] = await sendChunks(pieces);
      expect([bytes, digest]).toEqual([whole.byteLength, digestOf(whole)]);
      expect(charged).toBeGreaterThanOrEqual(bytes);
      expect(charged).toBeLessThanOrEqual(2 * bytes + 4_096);
      expect(budget.stats().bytes).toBe(0);
    }),
    { numRuns: 30 },
  );
});

test.each([
  ["1 byte", 1, true],
  ["15 bytes", 15, true],
  ["16 bytes", 16, false],
  ["4 KiB", 4_096, false],
])("chunks of %s that are far too fine are told of, others not", async (_, bytes, isTooFine) => {
  let reported = 0;
  const watched = createServer((req, res) => {
    watchChunks(req, () => reported++);
    req.resume().on("end", () => res.end("read"));
  });
  await new Promise<void>((resolve) => watched.listen(0, "127.0.0.1", resolve));
  const socket = connect((watched.address() as AddressInfo).port, "127.0.0.1");
  const chunk = `${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`;
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(1_500)}0\r\n\r\n`);
  await once(socket, "data");
  socket.destroy();
  watched.close();
  // The callback is called only once, because the rest of the body is discarded when it is parsed.
  expect(reported).toBe(isTooFine ? 1 : 0);
});

test("a few hundred small chunks are allowed", async () => {
  const body = Buffer.from("x".repeat(511));
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of body) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const answer = await fetch(url, { method: "POST", body: stream, duplex: "half" });
  expect(await answer.text()).toContain(digestOf(body));
});

test("many large bodies at once arrive whole, and nothing stays charged", async () => {
  const body = Buffer.alloc(1_000_000, "x");
  const seen = await Promise.all(Array.from({ length: 8 }, () => send(body)));
  for (const [bytes, , digest] of seen) expect([bytes, digest]).toEqual([body.byteLength, digestOf(body)]);
  expect(budget.stats()).toMatchObject({ bytes: 0, refused: { project: 0 } });
});

test("a body without room is refused at once, and the connection stays usable", async () => {
  budget = createBodyBudget({ clock: systemClock, bytesMax: 300_000 });
  const answer = await fetch(url, { method: "POST", body: Buffer.alloc(2_000_000) });
  expect(await answer.text()).toBe("too many bytes of bodies are under way");
  expect(budget.stats()).toMatchObject({ bytes: 0, refused: { project: 1 } });
  expect((await send(Buffer.from("next")))[0]).toBe(4);
});
