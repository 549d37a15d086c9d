import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { freePort } from "@svc/testing/server-process";

/** A request as the app received it. */
export type Seen = {
  readonly method: string;
  /** The target in the request line, unchanged. */
  readonly target: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** A local app that records its requests and gives the answers that the test sets. */
export type Provider = {
  readonly url: string;
  readonly port: number;
  readonly seen: Seen[];
  /** Number of TCP connections that were opened to the app, with or without a request. */
  connections: number;
  /** Writes the answer. It must end the response or the connection. Default: an empty object. */
  answer: (seen: Seen, res: ServerResponse) => void;
  /** Forgets the recorded requests and restores the first answer. */
  reset(): void;
  close(): Promise<void>;
};

/** Answers with JSON. */
export function reply(
  res: ServerResponse,
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void {
  res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Starts the app. */
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
  // The app listens on a port that no earlier server had, because it counts connections. A store client of another test may still retry the
  // port of a stopped server, and the system can assign that port again.
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
