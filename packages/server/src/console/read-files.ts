import { brotliCompressSync, gzipSync } from "node:zlib";
import { createFile, readFolder, type StaticFile, withBase } from "../pages/static-files.ts";

/** The built console: its files by path in the folder, with slashes, or the error of its build. */
export type BuiltConsole = { readonly files: ReadonlyMap<string, StaticFile> } | { readonly failure: string };

/** File with the output of a failed build. */
const failureFile = "build-error.txt";
const failureCharacters = 8_000;

/**
 * Reads the built files of a folder, which may be missing. Pages get `<base href>` set to `base`. The console's page also states if the
 * apps are a sandbox, so that its band appears at once and moves nothing.
 */
export async function readConsole(
  folder: string,
  { base, isSandbox }: { base: string; isSandbox: boolean },
): Promise<BuiltConsole> {
  const all = await readFolder(folder);
  if (!all.has("index.html"))
    return { failure: (all.get(failureFile)?.toString("utf8") ?? "").slice(0, failureCharacters) };
  const files = new Map<string, StaticFile>();
  for (const [path, body] of all) {
    if (path === failureFile) continue;
    const file = path.endsWith(".html")
      ? pageOf(body, base, isSandbox && path === "index.html")
      : createFile(path, { body, br: all.get(`${path}.br`), gzip: all.get(`${path}.gz`) });
    if (file !== undefined) files.set(path, file);
  }
  return { files };
}

/** Compressed here, because the prebuilt compressed files have another base. */
function pageOf(html: Buffer, base: string, isSandbox: boolean): StaticFile | undefined {
  const based = withBase(html.toString("utf8"), base);
  const body = Buffer.from(isSandbox ? based.replace(/<base\b[^>]*>/i, (tag) => `${tag}${sandboxTag}`) : based);
  return createFile("index.html", { body, br: brotliCompressSync(body), gzip: gzipSync(body) });
}

/** Read by packages/console (session/base.ts). */
const sandboxTag = '<meta name="svc-sandbox" content="on">';
