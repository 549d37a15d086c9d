import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startChild } from "./child.ts";
import type { EngineCommands } from "./peers/engine.ts";
import type { Variant } from "./system.ts";

/** Durable workflow engines that a user could choose in place of jobs, each in peers/engine-<name>.ts. */
export const engineNames = ["dbos", "restate"] as const;

/** The engines above, and the npm package workflow with its PostgreSQL store, of which only the latency is measured. */
export const latencyEngineNames = [...engineNames, "workflow"] as const;

/** One of `latencyEngineNames`. */
export type EngineName = (typeof latencyEngineNames)[number];

/** Names of the engines in a report. */
export const engineTitles: Readonly<Record<EngineName, string>> = {
  dbos: "DBOS",
  restate: "Restate",
  workflow: "workflow",
};

/** The workflow that is built for the npm package workflow, in the folder in which all engines are installed. */
const workflowFile = new URL("engines/workflows/bench.js", import.meta.url);
const folder = fileURLToPath(new URL("..", workflowFile));

/** Command that installs the engines. They need about 500 MB, so nothing installs them without a request. */
export const installEnginesCommand = "npm run bench -- --install-engines";

/** True if the engines are installed. */
export function areEnginesInstalled(): boolean {
  return existsSync(join(folder, ".well-known", "package.json"));
}

/**
 * Installs the packages in bench/engines/package-lock.json, and builds the workflow of the npm package workflow. Throws if a command fails.
 */
export function installEngines(): void {
  // `npm ci` would refuse this lockfile, because npm left out optional packages for other machines.
  run("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]);
  run(process.execPath, ["node_modules/workflow/bin/run.js", "build", "--target", "standalone"]);
  // The bundles are CommonJS. This file is written last, because it marks the installation as complete.
  writeFileSync(join(folder, ".well-known", "package.json"), '{ "type": "commonjs" }\n');
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: "inherit" });
  if (status !== 0)
    throw new Error(`${command} ${args.join(" ")} in bench/engines: ${error?.message ?? `exit ${status}`}`);
}

/** Prints clearly that a comparison is missing, and the command that installs it. */
export function tellEnginesMissing(): void {
  const names = Object.values(engineTitles).join(", ");
  process.stderr.write(
    `\n!!! ${names} are not installed: their rows stay empty. To have them (some 500 MB):\n!!!   ${installEnginesCommand}\n\n`,
  );
}

/** Returns an engine as a variant. It takes `POST /bench/<work>` and answers when the workflow has ended. */
export function engineVariant(engine: EngineName): Variant {
  return {
    name: engineTitles[engine],
    start: async (setup) => {
      const child = startChild<EngineCommands>(new URL(`peers/engine-${engine}.ts`, import.meta.url), [
        // DBOS makes the package pg print a deprecation warning.
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
