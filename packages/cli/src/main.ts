#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { quickenImports, settleAllocator } from "./start.ts";

const required = 24;

// If code reads the time zone of the process by mistake, it gets UTC on every node and in every thread.
process.env.TZ = "UTC";

if (Number(process.versions.node.split(".")[0]) === required) {
  // This comes before anything is loaded, because the process is replaced and would load everything twice.
  if (process.argv[2] === "serve") settleAllocator();
  // The cache of compiled code is inside the checkout. The temporary folder is not used, because every user can write to it.
  quickenImports(fileURLToPath(new URL("../../../.cache/node", import.meta.url)));
  // Imported only after the check of the Node version, so that an old version is reported instead of failing on newer syntax.
  const { run } = await import("./program.ts");
  await run(process.argv.slice(2));
} else {
  process.stderr.write(
    `svc needs Node ${required}, and this is ${process.version}. "npm start" brings its own on Linux (x64, arm64); elsewhere install Node ${required}.\n`,
  );
  process.exitCode = 1;
}
