import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A delivery as it arrived at the endpoint of a test subscriber. */
export type Received = { deliveryId: string; headers: IncomingMessage["headers"]; body: string; atMs: number };

/** An endpoint of a subscriber, on a loopback address. */
export type Subscriber = {
  readonly url: string;
  readonly received: Received[];
  /** The function that answers a delivery; it must end the response. Default: answers 204 at once. */
  answer: (received: Received, res: ServerResponse) => void;
  close(): Promise<void>;
};

/** Starts an endpoint that records the deliveries that it receives. */
export async function startSubscriber(): Promise<Subscriber> {
  const received: Received[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const one = {
        deliveryId: String(req.headers["x-svc-delivery-id"]),
        headers: req.headers,
        body: Buffer.concat(chunks).toString("utf8"),
        atMs: Date.now(),
      };
      received.push(one);
      receiver.answer(one, res);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const receiver: Subscriber = {
    url: `http://127.0.0.1:${address.port}/hook`,
    received,
    answer: (_received, res) => res.writeHead(204).end(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}
