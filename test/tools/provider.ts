import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { freePort } from "@svc/testing/server-process";

/** A request as the app got it. */
export type Seen = {
  readonly method: string;
  /** What stood in the request line, as it was written. */
  readonly target: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** An app on loopback that keeps what it is asked and answers as the test says. */
export type Provider = {
  readonly url: string;
  readonly port: number;
  readonly seen: Seen[];
  /** TCP connections that were opened to it, requests or not. */
  connections: number;
  /** What answers; it must end the response or its connection. Default: an empty object. */
  answer: (seen: Seen, res: ServerResponse) => void;
  /** Forgets what was seen and answers as at first. */
  reset(): void;
  close(): Promise<void>;
};

/** Answers JSON. */
export function reply(
  res: ServerResponse,
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void {
  res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Starts an app. */
export async function startProvider(): Promise<Provider> {
  const usual: Provider["answer"] = (_seen, res) => reply(res, {});
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const { pathname, searchParams } = new URL(req.url ?? "/", "http://app");
      const seen = {
        method: req.method ?? "",
        target: req.url ?? "",
        path: pathname,
        query: searchParams,
        headers: req.headers,
        body: Buffer.concat(chunks).toString("utf8"),
      };
      provider.seen.push(seen);
      provider.answer(seen, res);
    });
  });
  server.on("connection", () => {
    provider.connections += 1;
  });
  // Connections are counted, so that it listens where nobody else looks for somebody who was there: a client of a store that another test
  // has stopped tries the port it had again and again, and the system gives that to whoever asks for any.
  server.listen(await freePort(), "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const provider: Provider = {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    seen: [],
    connections: 0,
    answer: usual,
    reset() {
      provider.seen.length = 0;
      provider.connections = 0;
      provider.answer = usual;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return provider;
}
