import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";

/** A request as it arrived. */
export type ReceivedRequest = { method: string; path: string; headers: Record<string, string>; body: Buffer };

/** What a receiver answers: status (200) with headers and body, or whatever a function does with the exchange. */
export type Answer =
  | { status?: number; headers?: Record<string, string | string[]>; body?: string | Uint8Array }
  | ((req: IncomingMessage, res: ServerResponse) => void);

/** An endpoint on loopback that keeps what it receives and answers as it is told. */
export type TestReceiver = AsyncDisposable & {
  readonly port: number;
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** The next requests are answered with these in turn, and all that follow with the last. At first everything is answered 200. */
  script(...answers: [Answer, ...Answer[]]): void;
  /** Answers nothing until `release`, which answers all that came meanwhile. */
  hold(): void;
  release(): void;
  /** Requests that have arrived whole and are not answered. */
  inFlight(): number;
  /** The most there ever were. */
  inFlightMax(): number;
};

/** Starts an endpoint on a free port; `tls` makes it speak https with that key and certificate. */
export async function startTestReceiver(options: { tls?: { key: string; cert: string } } = {}): Promise<TestReceiver> {
  const exchanges = createExchanges();
  const server =
    options.tls === undefined ? createServer(exchanges.listener) : createTlsServer(options.tls, exchanges.listener);
  // Kept alive longer than any test lasts: a connection never ends under a request because it idled.
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  const { port } = address;
  return {
    ...exchanges,
    port,
    url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}/hook`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function createExchanges() {
  const requests: ReceivedRequest[] = [];
  const held: (() => void)[] = [];
  let answers: Answer[] = [{}];
  let isHolding = false;
  let inFlight = 0;
  let inFlightMax = 0;
  const listener: RequestListener = async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = "", url: path = "" } = req;
    requests.push({ method, path, headers: req.headers as Record<string, string>, body: Buffer.concat(chunks) });
    inFlightMax = Math.max(inFlightMax, ++inFlight);
    res.once("close", () => inFlight--);
    const [first = {}, ...rest] = answers;
    if (rest.length > 0) answers = rest;
    if (isHolding) held.push(() => answer(first, req, res));
    else answer(first, req, res);
  };
  return {
    listener,
    requests,
    script: (...given: [Answer, ...Answer[]]) => {
      answers = given;
    },
    hold: () => {
      isHolding = true;
    },
    release: () => {
      isHolding = false;
      for (const proceed of held.splice(0)) proceed();
    },
    inFlight: () => inFlight,
    inFlightMax: () => inFlightMax,
  };
}

function answer(given: Answer, req: IncomingMessage, res: ServerResponse): void {
  if (typeof given === "function") given(req, res);
  else res.writeHead(given.status ?? 200, given.headers).end(given.body);
}
