import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** The answers that the workers of a flood have received. */
export type FloodReport = { readonly statuses: Readonly<Record<string, number>>; readonly bytes: number };

/** Workers in a separate process that make calls without a pause. */
export type Flood = AsyncDisposable & {
  /** Lets each worker finish its call. Returns the answers of all workers. */
  stop(): Promise<FloodReport>;
};

/** The request that the process of a flood must repeat. `body` is in base64. */
export type FloodOrder = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly workers: number;
};

/** Options of `startFlood`. */
export type FloodOptions = {
  readonly key: string;
  /** The call, for example `CatalogService/ListTools`. */
  readonly call: string;
  /** Body of the call. A text is sent unchanged. Default: an object without fields. */
  readonly body?: object | string;
  /** Number of workers. Default 50. */
  readonly workers?: number;
  /** True if the body is sent compressed with gzip. */
  readonly isCompressed?: boolean;
};

const fixture = fileURLToPath(new URL("flood.fixture.ts", import.meta.url));

/** Starts workers that repeat an API call. */
export async function startFlood(
  server: { url: string },
  { key, call, body = {}, workers = 50, isCompressed = false }: FloodOptions,
): Promise<Flood> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${key}`,
    ...(isCompressed ? { "content-encoding": "gzip" } : {}),
  };
  return startRequests(server, `/svc.v1.${call}`, { headers, body: isCompressed ? gzipSync(text) : text, workers });
}

/** Starts workers that repeat any HTTP request. */
export async function startRequests(
  server: { url: string },
  path: string,
  { headers, body, workers }: Pick<FloodOrder, "headers" | "workers"> & { readonly body: string | Buffer },
): Promise<Flood> {
  const child = fork(fixture);
  const started = once(child, "message");
  const bytes = Buffer.from(body as string).toString("base64");
  child.send({ url: server.url + path, headers, body: bytes, workers } satisfies FloodOrder);
  await started;
  return {
    async stop() {
      const told = once(child, "message");
      child.send("stop");
      const [report] = (await told) as [FloodReport];
      return report;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
    },
  };
}
