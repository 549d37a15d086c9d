import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** What the workers of a flood were answered. */
export type FloodReport = { readonly statuses: Readonly<Record<string, number>>; readonly bytes: number };

/** Workers that call without pause, in a process of their own. */
export type Flood = AsyncDisposable & {
  /** Lets each finish its call, and gives what all of them were answered. */
  stop(): Promise<FloodReport>;
};

/** What the process of a flood is told to do: `body` is in base64. */
export type FloodOrder = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly workers: number;
};

/** Options of `startFlood`. */
export type FloodOptions = {
  readonly key: string;
  /** The call, as `CatalogService/ListTools`. */
  readonly call: string;
  /** A text is sent as it is. Default: no field is set. */
  readonly body?: object | string;
  /** Default 50. */
  readonly workers?: number;
  /** Whether the body is sent as gzip. */
  readonly isCompressed?: boolean;
};

const fixture = fileURLToPath(new URL("flood.fixture.ts", import.meta.url));

/** Starts workers that make a call again and again. */
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

/** Starts workers that send a request again and again, whatever it is. */
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
