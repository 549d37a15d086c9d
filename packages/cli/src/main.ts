#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { quickenImports, settleAllocator } from "./start.ts";

const required = 24;

// Code that reads the time zone of the process by mistake gets the same one on every node and in every thread.
process.env.TZ = "UTC";

if (Number(process.versions.node.split(".")[0]) === required) {
  // Before anything is loaded, because it would be loaded again.
  if (process.argv[2] === "serve") settleAllocator();
  // In the checkout, not in the temporary folder, which every user can write to.
  quickenImports(fileURLToPath(new URL("../../../.cache/node", import.meta.url)));
  // Imported only now, so that an unsupported Node version is reported before it fails on newer syntax.
  const { run } = await import("./program.ts");
  await run(process.argv.slice(2));
} else {
  process.stderr.write(
    `svc needs Node ${required}, and this is ${process.version}. "npm start" brings its own on Linux (x64, arm64); elsewhere install Node ${required}.\n`,
  );
  process.exitCode = 1;
}
