import type { ToolNotGranted } from "@svc/core";
import { type AccessClass, accessClasses } from "@svc/db/schema/words";

/** What a grant may do, by the access classes of tools: a scope is called as its class. */
export type AccessScope = AccessClass;

/** All of them. */
export const accessScopes: readonly AccessScope[] = accessClasses;

/** What a client is told to ask for at first: it asks for more once a call needs it. */
export const firstScopes: readonly AccessScope[] = ["read", "write"];

/** The scopes that a token needs for a tool that it was refused: what it has, and what is missing. */
export function scopesNeeded({ tool, binding: { accessClasses: classes, toolkitSlugs } }: ToolNotGranted): string {
  const [toolkit = ""] = tool.slug.split(".");
  const needed = { accessClasses: accessScopes.filter((one) => one === tool.class || isIn(classes, one)) };
  return scopeText({
    ...needed,
    toolkitSlugs: toolkitSlugs.length === 0 ? [] : [...new Set([...toolkitSlugs, toolkit])],
  });
}

/** An empty list has everything. */
function isIn(list: readonly string[], one: string): boolean {
  return list.length === 0 || list.includes(one);
}

/** What tokens may do, as clients are told: classes, and toolkits where they are not all. */
export function scopeText(granted: { accessClasses: readonly AccessScope[]; toolkitSlugs: readonly string[] }): string {
  const { accessClasses: classes, toolkitSlugs } = granted;
  return [...(classes.length === 0 ? accessScopes : classes), ...toolkitSlugs.map((slug) => `toolkit:${slug}`)].join(
    " ",
  );
}
