import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { createId, systemClock, uuidOfId } from "@svc/core";

/** A request to the receiver, whole. */
export type ReceivedRequest = { headers: IncomingHttpHeaders; body: Buffer };

/** What the receiver answers. */
export type ReceiverAnswer = { status: number; headers?: Record<string, string>; body?: Buffer };

/** A receiver of deliveries on this machine. */
export type Receiver = {
  readonly url: string;
  /** Takes no further connection, lets requests in flight be answered, and resolves when they are. */
  close(): Promise<void>;
};

// By it a later run tells what an earlier one left behind.
const pathPrefix = "/svc-listen/";

/** Whether an endpoint is that of a receiver on this machine which is there no more. */
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

/** Listens on a free loopback port, at a path nobody else knows, and answers every POST as `answer` says. */
export async function startReceiver(answer: (request: ReceivedRequest) => Promise<ReceiverAnswer>): Promise<Receiver> {
  const server = createServer((req, res) => {
    handle(req, answer).then(
      ({ status, headers, body }) => {
        // While closing, a connection ends with its answer rather than waiting for another request.
        if (!server.listening) res.shouldKeepAlive = false;
        res.writeHead(status, headers).end(body);
      },
      // The sender went away in the middle; it will try again.
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
