import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const main = fileURLToPath(new URL("main.ts", import.meta.url));

/** Returns the source of a module that prints how its process was started, and then ends the process. */
function telling(when: string): string {
  const told =
    "[process.pid, process.env.MALLOC_MMAP_THRESHOLD_ ?? null, process.env.MALLOC_ARENA_MAX ?? null, process.execArgv.length]";
  return `data:text/javascript,if (${when}) { process.stdout.write(JSON.stringify(${told})); process.exit(7); }`;
}

/** Starts `svc serve`. Returns what the restarted process prints about its own start. */
async function served(
  env: Record<string, string>,
  when: string,
): Promise<{ pid: number | undefined; told: unknown[] }> {
  const child = run(process.execPath, ["--import", telling(when), main, "serve"], {
    env: { PATH: process.env["PATH"], ...env },
  });
  const { stdout } = await child.catch((error: { stdout: string }) => error);
  return { pid: child.child.pid, told: JSON.parse(stdout) as unknown[] };
}

test.runIf(process.platform === "linux")(
  "the service runs under the allocator's settings, as the same process",
  async () => {
    const { pid, told } = await served({}, "process.env.MALLOC_MMAP_THRESHOLD_");
    expect(told).toEqual([pid, "131072", "2", 2]);
  },
);

test("settings that are given stay as they are", async () => {
  const { told } = await served({ MALLOC_ARENA_MAX: "7" }, "true");
  expect(told.slice(1)).toEqual([null, "7", 2]);
});
