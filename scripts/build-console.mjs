// Builds packages/console if its sources changed: scripts/setup.mjs calls it, and `npm run console:build` forces it. It runs on Node 20.
import { fileURLToPath } from "node:url";
import { buildNow, buildOnce } from "./build-once.mjs";

const folder = "packages/console";

/** Makes packages/console/dist what its sources say. Returns true if the console is there. */
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
