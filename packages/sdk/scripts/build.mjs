// Builds the package that is published, in dist/: plain JavaScript with types, a manifest and the README. The generated code of @svc/gen is
// copied into it. `npm pack packages/sdk/dist` then makes the tarball.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)));
const repositoryFolder = join(packageFolder, "../..");
const dist = join(packageFolder, "dist");
// The sources of all packages are copied into one folder and compiled there, because the published package has this layout. The folder is
// inside the package, so that its dependencies can be found.
const staging = join(dist, "staging");

function main() {
  rmSync(dist, { recursive: true, force: true });
  stage(join(packageFolder, "src"), staging);
  stage(join(packageFolder, "src/agents"), join(staging, "agents"));
  stage(join(repositoryFolder, "gen/src/svc/v1"), join(staging, "gen"));
  stage(join(repositoryFolder, "packages/core/src/time"), join(staging, "time"));
  cpSync(join(repositoryFolder, "packages/core/src/json/number-text.ts"), join(staging, "number-text.ts"));
  compile();
  writeManifest();
  cpSync(join(packageFolder, "README.md"), join(dist, "README.md"));
  cpSync(join(repositoryFolder, "LICENSE"), join(dist, "LICENSE"));
  rmSync(staging, { recursive: true });
}

/**
 * Copies sources without their tests. In the copies, imports name the compiled JavaScript files. An import of @svc/gen becomes a folder,
 * and an import of @svc/core becomes a file of that package.
 */
function stage(from, to) {
  mkdirSync(to, { recursive: true });
  const top = to === staging ? "./" : "../";
  for (const file of readdirSync(from)) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
    const source = readFileSync(join(from, file), "utf8")
      .replaceAll(/from "@svc\/gen\/(\w+)"/g, `from "${top}gen/$1_pb.js"`)
      .replaceAll('from "@svc/core/time"', `from "${top}time/index.js"`)
      .replaceAll(/from "@svc\/core\/([\w-]+)"/g, `from "${top}$1.js"`)
      .replaceAll(/from "(\.\.?\/[^"]+)\.ts"/g, 'from "$1.js"');
    writeFileSync(join(to, file), source);
  }
}

function compile() {
  const config = {
    extends: join(repositoryFolder, "tsconfig.json"),
    compilerOptions: {
      target: "es2022",
      noEmit: false,
      // Switched off, so that files that have not changed since the last build are written again as well.
      incremental: false,
      allowImportingTsExtensions: false,
      declaration: true,
      rootDir: ".",
      outDir: "..",
    },
    include: ["."],
    exclude: [],
  };
  writeFileSync(join(staging, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const { status } = spawnSync(process.execPath, [compiler, "-p", staging], { stdio: "inherit" });
  if (status !== 0) throw new Error(`tsc ended with ${status}`);
}

/** Returns the built files of a source such as `./src/agents/index.ts`, as an entry of the manifest's `exports`. */
function builtFile(source) {
  const path = source.replace("./src/", "./").replace(/\.ts$/, "");
  return { types: `${path}.d.ts`, default: `${path}.js` };
}

function writeManifest() {
  const { name, version, description, license, type, exports, dependencies, peerDependencies, peerDependenciesMeta } =
    JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
  const { "@svc/core": _core, "@svc/gen": _gen, ...published } = dependencies;
  const manifest = {
    name,
    version,
    description,
    license,
    type,
    sideEffects: false,
    engines: { node: ">=20" },
    exports: Object.fromEntries(Object.entries(exports).map(([path, source]) => [path, builtFile(source)])),
    // Used by tools that do not read the field `exports`.
    main: "./index.js",
    types: "./index.d.ts",
    dependencies: published,
    peerDependencies,
    peerDependenciesMeta,
  };
  writeFileSync(join(dist, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

main();
