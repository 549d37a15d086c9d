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

const fixture = fileURLToPath(new URL("flood.fixture.ts", import.meta.url));

/** Starts `workers` (default 50) that make a call, such as `CatalogService/ListTools`, again and again. */
export async function startFlood(
  server: { url: string },
  { key, call, body = {}, workers = 50 }: { key: string; call: string; body?: object; workers?: number },
): Promise<Flood> {
  const child = fork(fixture, [`${server.url}/svc.v1.${call}`, key, JSON.stringify(body), String(workers)]);
  await once(child, "message");
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
