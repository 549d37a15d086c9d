import { join } from "node:path";

/** The bundler's information about the console's source files and their imports. */
type Modules = {
  getModuleInfo(
    id: string,
  ): { readonly importedIds: readonly string[]; readonly dynamicallyImportedIds: readonly string[] } | null;
};

const source = (path: string) => join(import.meta.dirname, "src", path);
/** Entry file of the console. `linkEntries`, below, has the entry files of the two pages that links open. Those pages must stay small. */
const consoleEntry = source("main.tsx");
const linkEntries = [source("answer/main.tsx"), source("connect/main.tsx")];
/**
 * The two files with which the portal starts: `main.tsx` opens the portal session, and at the same time loads `pages.tsx`, which has the
 * code that all pages of the portal share.
 */
const portalFiles = [source("portal/main.tsx"), source("portal/pages.tsx")];
/** The frame of every list. */
const listFrame = source("frame/list-page.tsx");
const entries = [consoleEntry, ...linkEntries, ...portalFiles];

/**
 * Returns a function that says into which file (chunk) the bundler puts a module. The function returns null if the bundler chooses the
 * file. With few files, a page needs few requests.
 * - `base`: modules that the console and the pages of links both load at start, and all styles that the console loads at start.
 * - `both`: other modules that the console and the portal both load.
 * - `first`: other modules that the console loads at start.
 * - `lists`: other modules that several lists need, and no other page.
 * - `pages`: other modules that at least two fifths of the console's pages need, and small ones that several pages need, most of them lists.
 *   Those that a page of links needs too, and styles, are in `base` if two fifths of the pages need them.
 */
export function createChunkNames(): (id: string, modules: Modules) => string | null {
  let reach: Reach | undefined;
  return (id, modules) => {
    reach ??= reachOf(modules);
    if (id.endsWith(".html") || entries.includes(id)) return null;
    const isOfLinks = reach.ofLinks.has(id);
    if (reach.ofConsole.has(id))
      return isOfLinks || id.endsWith(".css") ? "base" : reach.ofPortal.has(id) ? "both" : "first";
    const needing = reach.pages.filter((page) => page.has(id));
    if (needing.length * 5 >= reach.pages.length * 2) return isOfLinks || id.endsWith(".css") ? "base" : "pages";
    if (isOfLinks || needing.length < 3) return null;
    const lists = needing.filter((page) => page.has(listFrame)).length;
    if (lists === needing.length) return "lists";
    return lists * 2 > needing.length && id.startsWith(source("ui")) ? "pages" : null;
  };
}

/** The modules that each part of the console loads. */
type Reach = {
  readonly ofConsole: ReadonlySet<string>;
  readonly ofPortal: ReadonlySet<string>;
  readonly ofLinks: ReadonlySet<string>;
  readonly pages: readonly ReadonlySet<string>[];
};

function reachOf(modules: Modules): Reach {
  const statically = (id: string) => modules.getModuleInfo(id)?.importedIds ?? [];
  const lazily = (id: string) => modules.getModuleInfo(id)?.dynamicallyImportedIds ?? [];
  const all = reachedFrom([consoleEntry], (id) => [...statically(id), ...lazily(id)]);
  const pages = new Set([...all].flatMap(lazily).filter((id) => id.startsWith(source("pages"))));
  return {
    ofConsole: reachedFrom([consoleEntry], statically),
    ofPortal: reachedFrom(portalFiles, (id) => [...statically(id), ...lazily(id)]),
    ofLinks: reachedFrom(linkEntries, statically),
    pages: [...pages].map((page) => reachedFrom([page], statically)),
  };
}

/** Returns the ids of the given modules and of everything that they import, directly or through other modules. */
function reachedFrom(ids: readonly string[], importsOf: (id: string) => readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...ids];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    waiting.push(...importsOf(id));
  }
  return reached;
}
