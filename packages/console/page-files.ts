import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Manifest = Readonly<
  Record<string, { readonly file: string; readonly css?: readonly string[]; readonly imports?: readonly string[] }>
>;

/** A page of the console: its path below the console's address, in which `*` is any one segment, and the file of its code. */
type Page = { readonly path: string; readonly file: string };

const routesFile = join(import.meta.dirname, "src", "routes.ts");
const declared = /\bpage\(\s*(project|admin),\s*"([^"]+)",\s*\(\) => import\("\.\/([^"]+)"\)/g;

/** Returns the pages that `src/routes.ts` declares. Fails if it loads a page in a way that this function does not know. */
function readPages(): readonly Page[] {
  const text = readFileSync(routesFile, "utf8");
  const pages = Array.from(text.matchAll(declared), ([, parent, path = "", file = ""]) => ({
    path: `${parent === "admin" ? "admin" : "p/*"}/${path.replaceAll(/\$\w+/g, "*")}`,
    file: `src/${file}`,
  }));
  const loaded = text.match(/\bimport\("/g)?.length ?? 0;
  if (loaded !== pages.length)
    throw new Error(`src/routes.ts loads ${loaded} pages, but only ${pages.length} were read`);
  return pages;
}

/**
 * Writes `.vite/pages.json` into the built console, by the build's manifest: for each page its path, and the files that it needs in
 * addition to those that every page loads. The service names them in the header `Link`, so that the browser loads them at once.
 */
export function writePageFiles(dist: string): void {
  const manifest = JSON.parse(readFileSync(join(dist, ".vite", "manifest.json"), "utf8")) as Manifest;
  const first = filesOf(manifest, "index.html");
  const pages = readPages().map(({ path, file }) => ({
    path,
    files: [...filesOf(manifest, file)].filter((one) => !first.has(one)),
  }));
  writeFileSync(join(dist, ".vite", "pages.json"), JSON.stringify(pages));
}

/** Returns every file that is loaded for a chunk: the chunk itself, and the files that it imports. */
function filesOf(manifest: Manifest, key: string, seen = new Set<string>()): ReadonlySet<string> {
  const chunk = manifest[key];
  if (chunk === undefined) throw new Error(`the build has no file for ${key}`);
  for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file);
  for (const imported of chunk.imports ?? []) {
    if (!seen.has(manifest[imported]?.file ?? "")) filesOf(manifest, imported, seen);
  }
  return seen;
}
