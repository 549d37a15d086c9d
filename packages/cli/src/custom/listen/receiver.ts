import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { createId, systemClock, uuidOfId } from "@svc/core";

/** A complete HTTP request with a delivery, as `svc listen` received it on this machine. */
export type ReceivedRequest = { headers: IncomingHttpHeaders; body: Buffer };

/** The answer of `svc listen` to the HTTP request with a delivery. */
export type ReceiverAnswer = { status: number; headers?: Record<string, string>; body?: Buffer };

/** A small HTTP server on this machine, with which `svc listen` receives the deliveries of its subscription. */
export type Receiver = {
  readonly url: string;
  /** Stops accepting connections. Resolves when all open requests are answered. */
  close(): Promise<void>;
};

// Start of the receiver's path. By this prefix, a later run finds the subscriptions that an earlier run did not delete.
const pathPrefix = "/svc-listen/";

/** True if the address was that of a receiver of `svc listen` on this machine, and this receiver is no longer running. */
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

/** Starts a receiver on a free loopback port, at a secret path. It answers every POST with the result of `answer`. */
export async function startReceiver(answer: (request: ReceivedRequest) => Promise<ReceiverAnswer>): Promise<Receiver> {
  const server = createServer((req, res) => {
    handle(req, answer).then(
      ({ status, headers, body }) => {
        // While the receiver closes, a connection ends after its answer and accepts no further request.
        if (!server.listening) res.shouldKeepAlive = false;
        res.writeHead(status, headers).end(body);
      },
      // The sender disconnected before the request was complete. It will retry.
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
