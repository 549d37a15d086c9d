import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Observations of another project during an attack. Times are in milliseconds. */
export type BystanderReport = {
  readonly calls: number;
  /** Status and text of each answer that was not 200. */
  readonly failures: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
};

/**
 * Another project that makes calls during an attack. It runs in a separate process, so that the attacker's work does not slow its clock.
 */
export type Bystander = AsyncDisposable & {
  /** Ends the process. Returns what it has observed since its start. */
  stop(): Promise<BystanderReport>;
};

/** Options of `startBystander`. */
export type BystanderOptions = {
  /** Key of a project that does not attack. */
  readonly key: string;
  /** The call, for example `CatalogService/GetTool`. Default: a small call that reads the database, `TriggersService/ListSubscriptions`. */
  readonly call?: string;
  readonly body?: object;
  /** Milliseconds between two calls, even if the first is not answered. Default 20. */
  readonly everyMs?: number;
};

const fixture = fileURLToPath(new URL("bystander.fixture.ts", import.meta.url));

/** Starts another project in a separate process. Waits until its connections are open and its first calls are answered. */
export async function startBystander(server: { url: string }, options: BystanderOptions): Promise<Bystander> {
  const { key, call = "TriggersService/ListSubscriptions", body = {}, everyMs = 20 } = options;
  const child = fork(fixture, [`${server.url}/svc.v1.${call}`, key, JSON.stringify(body), String(everyMs)]);
  await once(child, "message");
  return {
    async stop() {
      const told = once(child, "message");
      child.send("stop");
      const [{ times, failures }] = (await told) as [{ times: number[]; failures: string[] }];
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
      return { calls: sorted.length, failures, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1) ?? 0 };
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
    },
  };
}

/** Returns the resident memory of a process in MiB. It is read from /proc, which only Linux has. */
export async function residentMiB(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}
