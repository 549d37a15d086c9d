#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { quickenImports, settleAllocator } from "./start.ts";

const required = 24;

// All code of the process uses UTC, also code that reads the time zone of the process by mistake. The result is then the same on every node
// and in every thread.
process.env.TZ = "UTC";

if (Number(process.versions.node.split(".")[0]) === required) {
  // Runs before other modules are loaded, because it restarts the process. Otherwise the modules would be loaded twice.
  const argv = process.argv.slice(2);
  const isServe = argv[0] === "serve" || argv[0] === "start";
  if (isServe) settleAllocator();
  // The cache of compiled code is in the checkout. It is not in the temporary folder, because every user of the machine can write to that
  // folder.
  quickenImports(fileURLToPath(new URL("../../../.cache/node", import.meta.url)));
  // Imports the program only after the check of the Node version. Otherwise an old version of Node would fail at newer syntax instead of
  // reporting its version.
  if (isServe) await (await import("./serve-program.ts")).runServe(argv);
  else await (await import("./program.ts")).run(argv);
} else {
  process.stderr.write(
    `svc needs Node ${required}, and this is ${process.version}. On Linux (x64, arm64) npm installs it with svc, unless optional dependencies are left out; elsewhere install Node ${required}.\n`,
  );
  process.exitCode = 1;
}
