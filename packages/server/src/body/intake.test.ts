import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Fault } from "@svc/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readBody } from "./body.ts";
import { createTestIntake } from "./test-intake.ts";

let lookup: PromiseWithResolvers<string>;
let server: Server;
const requests: IncomingMessage[] = [];
const clients: Socket[] = [];

beforeEach(async () => {
  lookup = Promise.withResolvers();
  requests.length = 0;
  const intake = createTestIntake({ bytesMax: 100_000_000 });
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    try {
      const found = await intake.keepBack(req, lookup.promise);
      const charge = intake.charge(req, "project:one");
      const body = await readBody(req, 10_000_000, charge);
      charge.release();
      res.end(`${found} ${body.byteLength} ${body.every((byte) => byte === 120)}`);
    } catch (error) {
      res.end(error instanceof Fault ? error.details[0]?.reason : String(error));
    }
  };
  server = createServer((req, res) => {
    requests.push(req);
    void answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.closeAllConnections();
  server.close();
});

/** Sends a request with a body as fast as the server reads it, and returns the text of the answer. */
async function send(bytes: number): Promise<string> {
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {});
  clients.push(client);
  client.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`);
  client.write(Buffer.alloc(bytes, "x"));
  const [answer] = await once(client, "data");
  return String(answer).split("\r\n\r\n")[1] ?? "";
}

test("during a key's lookup, only the part of the body that came with the headers is read; then all of it", async () => {
  const answered = send(8_000_000);
  await expect.poll(() => requests.length).toBe(1);
  // The sender cannot send more, because the buffers of the operating system are full.
  await expect.poll(() => clients[0]!.writableLength > 0 && clients[0]!.bytesWritten > 0).toBe(true);
  expect(requests[0]!.readableLength).toBeLessThanOrEqual(65_536);
  lookup.resolve("found");
  expect(await answered).toBe("found 8000000 true");
});

test("a burst with a key that is looked up quickly is accepted", async () => {
  const answers = Array.from({ length: 20 }, () => send(50_000));
  await expect.poll(() => requests.length).toBe(20);
  lookup.resolve("found");
  expect(new Set(await Promise.all(answers))).toEqual(new Set(["found 50000 true"]));
});

test("bytes above an address's share are refused during a long lookup, and the rest waits", async () => {
  const answers = Array.from({ length: 20 }, () => send(50_000));
  const texts: string[] = [];
  for (const answer of answers) void answer.then((text) => texts.push(text));
  await expect.poll(() => texts.length).toBeGreaterThanOrEqual(18);
  lookup.resolve("found");
  await Promise.all(answers);
  const refused = texts.filter((text) => text === "NODE_OVERLOADED").length;
  expect(refused).toBeLessThan(20);
  expect(texts.filter((text) => text === "found 50000 true")).toHaveLength(20 - refused);
});

test("a failed lookup is reported to the caller without waiting for the body", async () => {
  const answered = send(8_000_000);
  await expect.poll(() => requests.length).toBe(1);
  lookup.reject(new Error("the store is away"));
  expect(await answered).toBe("Error: the store is away");
});
