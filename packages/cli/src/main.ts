#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { quickenImports, settleAllocator } from "./start.ts";

const required = 24;

// What reads the zone of the process by mistake, in a library or here, is the same on every node and in every thread of it.
process.env.TZ = "UTC";

if (Number(process.versions.node.split(".")[0]) === required) {
  // Before anything is loaded, which would be loaded again.
  if (process.argv[2] === "serve") settleAllocator();
  // In the checkout, not in the temporary folder that everybody may write to.
  quickenImports(fileURLToPath(new URL("../../../.cache/node", import.meta.url)));
  // Imported only now, so that another Node is told so before it trips over what it cannot read.
  const { run } = await import("./program.ts");
  await run(process.argv.slice(2));
} else {
  process.stderr.write(
    `svc needs Node ${required}, and this is ${process.version}. "npm start" brings its own on Linux (x64, arm64); elsewhere install Node ${required}.\n`,
  );
  process.exitCode = 1;
}
