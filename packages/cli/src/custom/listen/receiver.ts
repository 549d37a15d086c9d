import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { createId, systemClock, uuidOfId } from "@svc/core";

/** A complete request to the receiver. */
export type ReceivedRequest = { headers: IncomingHttpHeaders; body: Buffer };

/** The receiver's answer. */
export type ReceiverAnswer = { status: number; headers?: Record<string, string>; body?: Buffer };

/** A receiver of deliveries on this machine. */
export type Receiver = {
  readonly url: string;
  /** Accepts no more connections. Resolves when the requests in flight are answered. */
  close(): Promise<void>;
};

// A later run recognizes by it what an earlier one left behind.
const pathPrefix = "/svc-listen/";

/** Returns true if the endpoint belongs to a receiver on this machine that no longer runs. */
export async function isLeftover(endpointUrl: string): Promise<boolean> {
  const url = URL.parse(endpointUrl);
  if (url?.hostname !== "127.0.0.1" || !url.pathname.startsWith(pathPrefix)) return false;
  const socket = connect(Number(url.port), url.hostname);
  const refuses = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(false));
    socket.once("error", (err: NodeJS.ErrnoException) => resolve(err.code === "ECONNREFUSED"));
  });
  socket.destroy();
  return refuses;
}

/** Listens on a free loopback port at a secret path, and answers every POST with the result of `answer`. */
export async function startReceiver(answer: (request: ReceivedRequest) => Promise<ReceiverAnswer>): Promise<Receiver> {
  const server = createServer((req, res) => {
    handle(req, answer).then(
      ({ status, headers, body }) => {
        // During closing, a connection ends with its answer instead of waiting for another request.
        if (!server.listening) res.shouldKeepAlive = false;
        res.writeHead(status, headers).end(body);
      },
      // The sender disconnected in the middle and will retry.
      () => res.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathPrefix}${uuidOfId(createId("call", systemClock.now()))}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function handle(
  req: IncomingMessage,
  answer: (request: ReceivedRequest) => Promise<ReceiverAnswer>,
): Promise<ReceiverAnswer> {
  if (req.method !== "POST") return { status: 405, headers: { allow: "POST" } };
  return answer({ headers: req.headers, body: await buffer(req) });
}
