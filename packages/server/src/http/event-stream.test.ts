import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createEventStream } from "./event-stream.ts";

/** Returns the answer of a handler to a client that sends the header `accept`. */
async function ask(accept: string, handler: (req: IncomingMessage, res: ServerResponse) => void): Promise<Response> {
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const res = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { headers: { accept } });
    return new Response(await res.text(), { status: res.status, headers: res.headers });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a client that reads no events is offered none", async () => {
  const res = await ask("application/json", (req, answer) => answer.end(String(createEventStream(req, answer))));
  expect(await res.text()).toBe("undefined");
});

test("events come before the last one, which ends the answer; nothing is opened for nothing", async () => {
  const opened: (boolean | undefined)[] = [];
  const res = await ask("application/json, text/event-stream", (req, answer) => {
    const events = createEventStream(req, answer);
    opened.push(events?.isOpen());
    events?.send('{"n":1}');
    opened.push(events?.isOpen());
    events?.end('{"n":2}');
  });
  expect(opened).toEqual([false, true]);
  expect(Object.fromEntries(res.headers)).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  expect(await res.text()).toBe('event: message\ndata: {"n":1}\n\nevent: message\ndata: {"n":2}\n\n');
});

test("events beyond what the connection takes are lost, and the last one is not", async () => {
  const res = await ask("text/event-stream", (req, answer) => {
    const events = createEventStream(req, answer);
    for (let n = 0; n < 5_000; n++) events?.send("x".repeat(1_000));
    events?.end("last");
  });
  const text = await res.text();
  expect(text.length).toBeLessThan(1_000_000);
  expect(text.endsWith("data: last\n\n")).toBe(true);
});
