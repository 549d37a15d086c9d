import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { onceARun } from "./once-a-run.ts";

const making = new Map<string, Promise<string>>();

/**
 * Bundles a program with all its imports into one file, and returns the path of the file. Starting it takes a quarter of the processor time
 * that the sources take. The first caller in a test run makes the bundle. Tests that are about the start do not use it: they run the
 * sources, as users do.
 */
export function bundled(program: string): Promise<string> {
  const known = making.get(program) ?? makeOnce(program);
  making.set(program, known);
  return known;
}

async function makeOnce(program: string): Promise<string> {
  const name = createHash("sha256").update(program).digest("hex").slice(0, 12);
  const made = await onceARun(name, (folder) => bundle(program, folder));
  return made === undefined ? program : join(made, `${basename(program, ".ts")}.mjs`);
}

async function bundle(program: string, dir: string): Promise<void> {
  // The bundler is loaded only here, because most test workers start no process.
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    input: program,
    platform: "node",
    external: /^node:/,
    logLevel: "silent",
    // Some files (migrations, definitions, threads, package.json) are found by their place relative to a source. The plugin keeps the
    // original path of each source, so that these files are still found.
    plugins: [
      { name: "places", transform: (code, id) => (code.includes("import.meta.") ? withPlaces(code, id) : null) },
    ],
  });
  await bundle.write({ dir, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" });
  await bundle.close();
}

function withPlaces(code: string, file: string): string {
  return code
    .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(file).href))
    .replaceAll("import.meta.dirname", JSON.stringify(dirname(file)))
    .replaceAll("import.meta.filename", JSON.stringify(file));
}
