import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** What the workers of a flood were answered. */
export type FloodReport = { readonly statuses: Readonly<Record<string, number>>; readonly bytes: number };

/** Workers that call without pause, in a process of their own. */
export type Flood = AsyncDisposable & {
  /** Lets each finish its call, and gives what all of them were answered. */
  stop(): Promise<FloodReport>;
};

/** What the process of a flood is told to do. */
export type FloodOrder = {
  readonly url: string;
  readonly key: string;
  readonly body: string;
  readonly workers: number;
  readonly isCompressed: boolean;
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
  const child = fork(fixture);
  const started = once(child, "message");
  const text = typeof body === "string" ? body : JSON.stringify(body);
  child.send({ url: `${server.url}/svc.v1.${call}`, key, body: text, workers, isCompressed } satisfies FloodOrder);
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
