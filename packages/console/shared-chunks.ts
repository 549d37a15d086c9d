import { join } from "node:path";

/** What the bundler knows of its modules. */
type Modules = {
  getModuleInfo(
    id: string,
  ): { readonly importedIds: readonly string[]; readonly dynamicallyImportedIds: readonly string[] } | null;
};

const source = (path: string) => join(import.meta.dirname, "src", path);
/** The console itself, and the pages behind links, which take as little as they can. */
const consoleEntry = source("main.tsx");
const linkEntries = [source("answer/main.tsx"), source("connect/main.tsx")];

/**
 * Makes what names the file of a module that several share; null for one that stands by itself, or with what alone needs it. A file each,
 * as the bundler would make them, is a hundred requests for one page, six at a time: they wait longer for each other than they take.
 * - `base`: what the console and a page behind a link both begin with.
 * - `first`: what the console begins with beyond that.
 * - `pages`: what a third of its pages need.
 */
export function createChunkNames(): (id: string, modules: Modules) => string | null {
  let reach: Reach | undefined;
  return (id, modules) => {
    reach ??= reachOf(modules);
    if (id.endsWith(".html") || id === consoleEntry || linkEntries.includes(id)) return null;
    const isOfLinks = reach.ofLinks.has(id);
    if (reach.ofConsole.has(id)) return isOfLinks ? "base" : "first";
    const needing = reach.pages.filter((page) => page.has(id)).length;
    return !isOfLinks && needing * 3 >= reach.pages.length ? "pages" : null;
  };
}

/** Which modules are loaded with an entry, with any page behind a link, and with each page of the console. */
type Reach = {
  readonly ofConsole: ReadonlySet<string>;
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
    ofLinks: reachedFrom(linkEntries, statically),
    pages: [...pages].map((page) => reachedFrom([page], statically)),
  };
}

/** Modules from some on, wherever their imports lead. */
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
