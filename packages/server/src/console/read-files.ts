import { brotliCompressSync, gzipSync } from "node:zlib";
import { createFile, readFolder, type StaticFile, withBase } from "../pages/static-files.ts";

/**
 * The built console. `files`: files by their paths in the folder, with slashes. `links`: names the files of a page. `failure`: error of the
 * build, if it failed.
 */
export type BuiltConsole =
  | { readonly files: ReadonlyMap<string, StaticFile>; readonly links: PageLinks }
  | { readonly failure: string };

/** File that contains the output of a failed build. */
const failureFile = "build-error.txt";
const failureCharacters = 8_000;

/**
 * Reads the built files of a folder. The folder may be missing. Sets `<base href>` of the pages to `base`, and that of the portal to
 * `portalBase`. The console's page also contains `PageFacts` (settings of the deployment), so that the page need not load them first and
 * its content does not move.
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
  return { files, links: createPageLinks(all.get(pagesFile)?.toString("utf8") ?? "[]", base) };
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

/** Path of the file in the built console that says which files each page needs. packages/console/page-files.ts writes it. */
const pagesFile = ".vite/pages.json";

/** A page: its path below the console's address, in which `*` is any one segment, and the files it needs besides those of every page. */
type Page = { readonly path: string; readonly files: readonly string[] };

/** Returns the value of the header `Link` for the page with this path below the console's address. Undefined if it needs no more files. */
type PageLinks = (path: string) => string | undefined;

/**
 * Creates the function that names the files of a page for the header `Link`, so that the browser loads them together with those of the
 * console. Otherwise it would learn of them only when the console runs. `text`: content of the build's file of pages. `base`: address of
 * the console, such as `/console/`.
 */
function createPageLinks(text: string, base: string): PageLinks {
  const pages = (JSON.parse(text) as readonly Page[]).map(({ path, files }) => ({
    steps: path.split("/"),
    links: files.map((file) => linkOf(`${base}${file}`)).join(", "),
  }));
  return (path) => {
    const steps = path.split("/");
    const isShown = (page: (typeof pages)[number]) =>
      page.steps.length === steps.length && page.steps.every((step, at) => step === "*" || step === steps[at]);
    // A path without `*` names its page more exactly, such as `subscriptions/new`.
    const shown = pages.filter(isShown).sort((one, other) => anyCount(one.steps) - anyCount(other.steps))[0];
    return shown?.links === "" ? undefined : shown?.links;
  };
}

function anyCount(steps: readonly string[]): number {
  return steps.filter((step) => step === "*").length;
}

/** The attributes are those with which the console loads the file later. The browser would load it again with others. */
function linkOf(address: string): string {
  return address.endsWith(".css")
    ? `<${address}>; rel=preload; as=style; crossorigin`
    : `<${address}>; rel=modulepreload`;
}
