// Builds the documentation (packages/site) if docs/ or the sources of the site have changed. `npm start` and `npm run dev` run this script.
// `--force` always builds. scripts/setup.mjs builds only a missing site, so that an edit of a page delays no other script. It runs on Node
// 20.
import { fileURLToPath } from "node:url";
import { buildNow, buildOnce } from "./build-once.mjs";

/** Builds the documentation into packages/site/dist if necessary. Returns true if it exists afterwards. */
export function buildSite(options) {
  const build = {
    ...{ name: "site", title: "the documentation", ignored: /\.test\.ts$/ },
    sources: ["docs", "CHANGELOG.md", "package.json", "packages/site/package.json", "packages/site/src"],
    command: (outDir) => ({
      program: "node",
      args: ["--no-warnings", "packages/site/src/build/main.ts", outDir],
      folder: ".",
    }),
  };
  return buildOnce(build, options);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes("--force")) buildNow(buildSite, "site");
  else buildSite();
}
