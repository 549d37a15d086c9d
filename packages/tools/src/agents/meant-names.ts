import type { CatalogView } from "@svc/catalog";
import { directName } from "./direct-tools.ts";
import { metaTools } from "./meta-tools.ts";

// Functions that find the tool that a client means. Clients change the names of tools: they add a server prefix, or use other separators or
// another case.

/**
 * Returns a name in lower case and without separators. `salesCrm.listDeals`, `SALES_CRM__LIST_DEALS` and `sales-crm/list-deals` give the
 * same result.
 */
function plainOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

const nameMax = 200;

const metaNames: ReadonlySet<string> = new Set(metaTools.map(({ name }) => plainOf(name)));

/**
 * Returns the tool names that a name may mean: the whole name first, then the name without prefixes that MCP clients add (such as
 * `mcp__svc__`). The name of a meta-tool such as `read_tool` is never removed as a prefix. Otherwise, permission for `read_tool` would
 * permit any tool whose name follows it.
 */
function formsOf(name: string): string[] {
  const forms = [name];
  let from = 0;
  const separators = /__|[./:]|(?<=^(?:mcp[_-])?svc)[_-]|(?<=^mcp)[_-]/g;
  for (const { index, 0: separator } of name.slice(0, nameMax).matchAll(separators)) {
    if (metaNames.has(plainOf(name.slice(from, index)))) break;
    from = index + separator.length;
    forms.push(name.slice(from));
  }
  return forms.map(plainOf).filter((form) => form !== "");
}

/** Returns the name that a text means; undefined if the text matches no name or several names. */
export function meantName<Name extends string>(text: string, names: Iterable<Name>): Name | undefined {
  const known = [...names];
  const exact = known.find((name) => name === text);
  if (exact !== undefined) return exact;
  for (const form of formsOf(text)) {
    const found = known.filter((name) => plainOf(name) === form);
    if (found.length > 0) return found.length === 1 ? found[0] : undefined;
  }
  return undefined;
}

type SlugIndex = ReadonlyMap<string, ReadonlySet<string>>;

const indexes = new WeakMap<CatalogView["tools"], SlugIndex>();

/**
 * Returns an index of slugs. Each slug is found by its plain form (lower case, no separators), and by the plain form of the name under
 * which clients list the tool.
 */
function indexOf({ tools }: CatalogView): SlugIndex {
  const known = indexes.get(tools);
  if (known !== undefined) return known;
  const index = new Map<string, Set<string>>();
  const add = (name: string, slug: string) => {
    const form = plainOf(name);
    const slugs = index.get(form) ?? new Set();
    index.set(form, slugs.add(slug));
  };
  for (const [slug, { kind }] of tools) {
    if (kind === "trigger") continue;
    add(slug, slug);
    add(directName(slug), slug);
  }
  indexes.set(tools, index);
  return index;
}

/**
 * Returns the slugs that a text may mean. If a tool has exactly this slug, returns only that slug. If the text resembles no slug, returns
 * none.
 */
export function meantSlugs(text: string, view: CatalogView): readonly string[] {
  if (view.tools.has(text)) return [text];
  const index = indexOf(view);
  for (const form of formsOf(text)) {
    const found = index.get(form);
    if (found !== undefined) return [...found];
  }
  return [];
}
