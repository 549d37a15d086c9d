import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startChild } from "./child.ts";
import type { EngineCommands } from "./peers/engine.ts";
import type { Variant } from "./system.ts";

/** Durable engines that a user would choose in place of jobs, each in peers/engine-<name>.ts. */
export const engineNames = ["dbos", "restate"] as const;

/** Those and npm workflow with its world on PostgreSQL, which is measured for its latency alone. */
export const latencyEngineNames = [...engineNames, "workflow"] as const;

/** One of `latencyEngineNames`. */
export type EngineName = (typeof latencyEngineNames)[number];

/** As a report names them. */
export const engineTitles: Readonly<Record<EngineName, string>> = {
  dbos: "DBOS",
  restate: "Restate",
  workflow: "workflow",
};

/** What is built for npm workflow, in the folder that all of them are installed in. */
const workflowFile = new URL("engines/workflows/bench.js", import.meta.url);
const folder = fileURLToPath(new URL("..", workflowFile));

/** What installs them: some 500 MB, so nothing does it unasked. */
export const installEnginesCommand = "npm run bench -- --install-engines";

/** Whether the engines are there. */
export function areEnginesInstalled(): boolean {
  return existsSync(join(folder, ".well-known", "package.json"));
}

/** Installs what bench/engines/package-lock.json names, and builds the workflow of npm workflow. Throws when one of them fails. */
export function installEngines(): void {
  // Not `npm ci`: npm left optional packages of other machines out of the lockfile, which that refuses.
  run("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]);
  run(process.execPath, ["node_modules/workflow/bin/run.js", "build", "--target", "standalone"]);
  // Its bundles are CommonJS. Written last: what says that all is there.
  writeFileSync(join(folder, ".well-known", "package.json"), '{ "type": "commonjs" }\n');
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: "inherit" });
  if (status !== 0)
    throw new Error(`${command} ${args.join(" ")} in bench/engines: ${error?.message ?? `exit ${status}`}`);
}

/** Says loudly that a comparison is missing, and how to have it. */
export function tellEnginesMissing(): void {
  const names = Object.values(engineTitles).join(", ");
  process.stderr.write(
    `\n!!! ${names} are not installed: their rows stay empty. To have them (some 500 MB):\n!!!   ${installEnginesCommand}\n\n`,
  );
}

/** An engine as a variant. It takes `POST /bench/<work>` and answers when the workflow has ended. */
export function engineVariant(engine: EngineName): Variant {
  return {
    name: engineTitles[engine],
    start: async (setup) => {
      const child = startChild<EngineCommands>(new URL(`peers/engine-${engine}.ts`, import.meta.url), [
        // DBOS has pg warn of itself.
        "--disable-warning=DeprecationWarning",
      ]);
      try {
        const { port, otherPids, storePid } = await child.ask("start", setup);
        const recorded = () => child.ask("recorded", null);
        return { pid: child.pid, otherPids, storePid, port, recorded, stop: child.stop };
      } catch (error) {
        await child.stop();
        throw error;
      }
    },
  };
}
