import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A request to the receiver, whole. */
export type ReceivedRequest = { headers: IncomingMessage["headers"]; body: Buffer };

/** What the receiver answers. */
export type ReceiverAnswer = { status: number; headers?: Record<string, string>; body?: Buffer };

/** A receiver of deliveries on this machine. */
export type Receiver = {
  readonly url: string;
  /** Takes no further request, lets those in flight be answered, and resolves when they are. */
  close(): Promise<void>;
};

/** Listens on a free loopback port and answers every POST as `answer` says. */
export async function startReceiver(answer: (request: ReceivedRequest) => Promise<ReceiverAnswer>): Promise<Receiver> {
  const server = createServer((req, res) => {
    // The sender went away in the middle; it will try again.
    respond(req, res, answer).catch(() => res.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => closeServer(server) };
}

async function respond(
  req: IncomingMessage,
  res: ServerResponse,
  answer: (request: ReceivedRequest) => Promise<ReceiverAnswer>,
): Promise<void> {
  if (req.method !== "POST") {
    res.writeHead(405, { allow: "POST" }).end();
    return;
  }
  const { status, headers, body } = await answer({ headers: req.headers, body: await buffer(req) });
  res.writeHead(status, headers).end(body);
}

/** `close` ends idle connections, and each other one when its answer is written. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
