import { brotliCompressSync, gzipSync } from "node:zlib";
import { createFile, readFolder, type StaticFile, withBase } from "../pages/static-files.ts";

/** The built console. `files`: files by their paths in the folder, with slashes. `failure`: error of the build, if it failed. */
export type BuiltConsole = { readonly files: ReadonlyMap<string, StaticFile> } | { readonly failure: string };

/** File that contains the output of a failed build. */
const failureFile = "build-error.txt";
const failureCharacters = 8_000;

/**
 * Reads the built files of a folder. The folder may be missing. Sets `<base href>` of the pages to `base`, and that of the portal to `portalBase`. The console's page also states
 * if the apps are emulated (sandbox), so that its banner appears at once and does not move the content.
 */
export async function readConsole(
  folder: string,
  { base, portalBase, isSandbox }: { base: string; portalBase: string; isSandbox: boolean },
): Promise<BuiltConsole> {
  const all = await readFolder(folder);
  if (!all.has("index.html"))
    return { failure: (all.get(failureFile)?.toString("utf8") ?? "").slice(0, failureCharacters) };
  const files = new Map<string, StaticFile>();
  for (const [path, body] of all) {
    if (path === failureFile) continue;
    const file = path.endsWith(".html")
      ? pageOf(body, path === "portal.html" ? portalBase : base, isSandbox && path === "index.html")
      : createFile(path, { body, br: all.get(`${path}.br`), gzip: all.get(`${path}.gz`) });
    if (file !== undefined) files.set(path, file);
  }
  return { files };
}

/**
 * Returns an HTML page in which `base` is set as the base address of its links. The build contains compressed files of the page too, but
 * with another base address. So this function compresses the page again.
 */
function pageOf(html: Buffer, base: string, isSandbox: boolean): StaticFile | undefined {
  const based = withBase(html.toString("utf8"), base);
  const body = Buffer.from(isSandbox ? based.replace(/<base\b[^>]*>/i, (tag) => `${tag}${sandboxTag}`) : based);
  return createFile("index.html", { body, br: brotliCompressSync(body), gzip: gzipSync(body) });
}

/**
 * Tag in the console's page that says that the sandbox answers in place of the apps. The console then shows a banner (session/base.ts in
 * packages/console).
 */
const sandboxTag = '<meta name="svc-sandbox" content="on">';
