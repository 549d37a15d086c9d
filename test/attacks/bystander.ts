import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** What another project saw while one attacked; times in milliseconds. */
export type BystanderReport = {
  readonly calls: number;
  /** What was not answered with 200, as status and text. */
  readonly failures: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
};

/** Another project at work, in a process of its own, so that the attacker's does not slow its clock. */
export type Bystander = AsyncDisposable & {
  /** Ends it and gives what it saw since it started. */
  stop(): Promise<BystanderReport>;
};

/** Options of `startBystander`. */
export type BystanderOptions = {
  /** Key of a project that does not attack. */
  readonly key: string;
  /** The call, as `CatalogService/GetTool`. Default: a small one that reads the store, `TriggersService/ListSubscriptions`. */
  readonly call?: string;
  readonly body?: object;
  /** Between two calls, whatever became of the first. Default 20. */
  readonly everyMs?: number;
};

const fixture = fileURLToPath(new URL("bystander.fixture.ts", import.meta.url));

/** Starts a bystander and waits until its connections are open and its first calls answered. */
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

/** Resident memory of a process, MiB; from /proc, so on Linux alone. */
export async function residentMiB(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}
