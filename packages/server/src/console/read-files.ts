import { brotliCompressSync, gzipSync } from "node:zlib";
import { createFile, readFolder, type StaticFile, withBase } from "../pages/static-files.ts";

/** The built console. `files`: files by their paths in the folder, with slashes. `failure`: error of the build, if it failed. */
export type BuiltConsole = { readonly files: ReadonlyMap<string, StaticFile> } | { readonly failure: string };

/** File that contains the output of a failed build. */
const failureFile = "build-error.txt";
const failureCharacters = 8_000;

/**
 * Reads the built files of a folder. The folder may be missing. Sets `<base href>` of the pages to `base`, and that of the portal to `portalBase`. The console's page also states
 * `PageFacts`, so that what depends on them appears at once and does not move the content.
 */
export async function readConsole(
  folder: string,
  { base, portalBase, ...facts }: { base: string; portalBase: string } & PageFacts,
): Promise<BuiltConsole> {
  const all = await readFolder(folder);
  if (!all.has("index.html"))
    return { failure: (all.get(failureFile)?.toString("utf8") ?? "").slice(0, failureCharacters) };
  const files = new Map<string, StaticFile>();
  for (const [path, body] of all) {
    if (path === failureFile) continue;
    const file = path.endsWith(".html")
      ? pageOf(body, path === "portal.html" ? portalBase : base, path === "index.html" ? tagsOf(facts) : "")
      : createFile(path, { body, br: all.get(`${path}.br`), gzip: all.get(`${path}.gz`) });
    if (file !== undefined) files.set(path, file);
  }
  return { files };
}

/**
 * Returns an HTML page in which `base` is set as the base address of its links. The build contains compressed files of the page too, but
 * with another base address. So this function compresses the page again.
 */
function pageOf(html: Buffer, base: string, tags: string): StaticFile | undefined {
  const based = withBase(html.toString("utf8"), base);
  const body = Buffer.from(based.replace(/<base\b[^>]*>/i, (tag) => `${tag}${tags}`));
  return createFile("index.html", { body, br: brotliCompressSync(body), gzip: gzipSync(body) });
}

/**
 * Facts that the console's page states: if the apps are emulated (sandbox), and if people sign in with company accounts. The page reads them
 * from tags (session/base.ts in packages/console).
 */
type PageFacts = { readonly isSandbox: boolean; readonly hasCompanyAccounts: boolean };

function tagsOf({ isSandbox, hasCompanyAccounts }: PageFacts): string {
  const tagOf = (name: string) => `<meta name="svc-${name}" content="on">`;
  return `${isSandbox ? tagOf("sandbox") : ""}${hasCompanyAccounts ? tagOf("accounts") : ""}`;
}
