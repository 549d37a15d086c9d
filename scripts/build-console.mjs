// Builds packages/console if its sources have changed. scripts/setup.mjs calls this script, and `npm run console:build` forces a build. It
// runs on Node 20.
import { fileURLToPath } from "node:url";
import { buildNow, buildOnce } from "./build-once.mjs";

const folder = "packages/console";

/** Builds the console into packages/console/dist if necessary. Returns true if a built console exists afterwards. */
export function buildConsole(options) {
  const build = {
    ...{ name: "console", title: "the console", sources: [folder, "gen"], ignored: /\.test\.tsx?$|\.md$/ },
    command: (outDir) => ({
      program: "node_modules/.bin/vite",
      args: ["build", "--outDir", outDir, "--emptyOutDir", "--logLevel", "warn"],
      folder,
    }),
  };
  return buildOnce(build, options);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildNow(buildConsole, "console");
