import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";

/** A request as the test endpoint received it. */
export type ReceivedRequest = { method: string; path: string; headers: Record<string, string>; body: Buffer };

/** An answer of the test endpoint: a status (default 200) with headers and a body, or a function that handles the whole exchange. */
export type Answer =
  | { status?: number; headers?: Record<string, string | string[]>; body?: string | Uint8Array }
  | ((req: IncomingMessage, res: ServerResponse) => void);

/** An endpoint on loopback that records requests and gives the answers that the test sets with `script`. */
export type TestReceiver = AsyncDisposable & {
  readonly port: number;
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /**
   * Sets the answers to the next requests, in this order. All later requests get the last answer. Until `script` is called, every answer is
   * 200.
   */
  script(...answers: [Answer, ...Answer[]]): void;
  /** Holds back all answers until `release`, which answers the waiting requests. */
  hold(): void;
  release(): void;
  /** Returns the number of requests that have arrived completely and have no answer yet. */
  inFlight(): number;
  /** Returns the largest number of requests that this test receiver has handled at the same time so far. */
  inFlightMax(): number;
};

/** Starts an endpoint on a free port. If `tls` is given, it uses https with this key and certificate. */
export async function startTestReceiver(options: { tls?: { key: string; cert: string } } = {}): Promise<TestReceiver> {
  const exchanges = createExchanges();
  const server =
    options.tls === undefined ? createServer(exchanges.listener) : createTlsServer(options.tls, exchanges.listener);
  // Idle connections stay open longer than any test lasts, so that none is closed just before a request.
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
