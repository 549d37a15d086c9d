/** Paths of the pages and folders that come first in the navigation, in this order. All others follow, sorted by title. */
const order: readonly string[] = [
  "index",
  "start",
  "start/receive-webhooks",
  "start/give-tools-to-an-agent",
  "start/automate-a-task",
  "start/build-a-toolkit",
  "start/run-in-production",
  "guides",
  "guides/webhooks",
  "guides/tools",
  "guides/connections",
  "guides/toolkits",
  "guides/jobs",
  "guides/schedules",
  "guides/questions",
  "guides/operations",
  "reference",
  "reference/configuration",
  "reference/calls-and-commands",
  "reference/api",
  "reference/cli",
  "reference/errors",
  "reference/program",
  "concepts",
  "concepts/architecture",
  "benchmarks",
  "glossary",
  "changelog",
];

/** Labels of folders in the navigation, if the label is not simply the folder's name with a capital letter. */
const labels: Readonly<Record<string, string>> = {
  start: "Get started",
  "reference/api": "API",
  "reference/mcp": "MCP",
  "concepts/benchmarks": "Benchmarks in detail",
  "reference/cli": "Command line",
};

/** A page, or a folder of pages, in the navigation. */
export type NavigationEntry = {
  readonly label: string;
  /** The page's path; undefined for a folder without an index page. */
  readonly path: string | undefined;
  readonly entries: readonly NavigationEntry[];
};

/** Returns the navigation: pages in the folders that their paths name. `titles`: the title of each page by its path. */
export function navigationOf(titles: ReadonlyMap<string, string>): readonly NavigationEntry[] {
  return entriesBelow("", titles);
}

function entriesBelow(folder: string, titles: ReadonlyMap<string, string>): NavigationEntry[] {
  const below = [...titles.keys()].filter((path) => path.startsWith(folder) && path !== `${folder}index`);
  const names = [...new Set(below.map((path) => path.slice(folder.length).split("/")[0] ?? ""))];
  const entries = names.map((name) => {
    const path = `${folder}${name}`;
    const index = titles.has(path) ? path : titles.has(`${path}/index`) ? `${path}/index` : undefined;
    const label = (index === path ? titles.get(path) : undefined) ?? labels[path] ?? capital(name);
    return { path, entry: { label, path: index, entries: entriesBelow(`${path}/`, titles) } };
  });
  return entries
    .sort((a, b) => placeOf(a.path) - placeOf(b.path) || (a.entry.label < b.entry.label ? -1 : 1))
    .map(({ entry }) => entry);
}

function placeOf(path: string): number {
  const place = order.indexOf(path);
  return place < 0 ? order.length : place;
}

function capital(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("-", " ")}`;
}

/** Returns every page of the navigation, in order. */
export function pagesOf(
  entries: readonly NavigationEntry[],
): readonly { readonly path: string; readonly label: string }[] {
  return entries.flatMap(({ path, label, entries: below }) => [
    ...(path === undefined ? [] : [{ path, label }]),
    ...pagesOf(below),
  ]);
}
