import { createHash } from "node:crypto";
import { access, mkdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { until } from "./until.ts";

/** Where a run of the tests keeps its bundles: the global setup makes the folder, and removes it. */
export const bundlesVariable = "SVC_TEST_BUNDLES";

const making = new Map<string, Promise<string>>();

/**
 * A program of the sources with all that it imports in one file: a process of it starts with a quarter of the processor's work. Made
 * once for a run of the tests, by whoever asks first. For tests that are not about the start itself: those run the sources, as users do.
 */
export function bundled(program: string): Promise<string> {
  const known = making.get(program) ?? makeOnce(program);
  making.set(program, known);
  return known;
}

async function makeOnce(program: string): Promise<string> {
  const folder = process.env[bundlesVariable];
  if (folder === undefined) return program;
  const name = createHash("sha256").update(program).digest("hex").slice(0, 12);
  const made = join(folder, name);
  const entry = join(made, `${basename(program, ".ts")}.mjs`);
  const exists = () =>
    access(entry).then(
      () => true,
      () => false,
    );
  try {
    await mkdir(`${made}-begun`);
  } catch {
    await until(exists, `${program} is bundled by another worker`, 90_000);
    return entry;
  }
  await bundle(program, `${made}-written`);
  await rename(`${made}-written`, made);
  return entry;
}

async function bundle(program: string, dir: string): Promise<void> {
  // Loaded here: most workers start no process.
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    input: program,
    platform: "node",
    external: /^node:/,
    logLevel: "silent",
    // What a source finds beside itself (migrations, definitions, threads, package.json) stays where it is.
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
