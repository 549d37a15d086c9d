import { type AccessClass, accessClasses } from "@svc/db";

/** What a grant may do, by the access classes of tools: a scope is called as its class. */
export type AccessScope = AccessClass;

/** All of them. */
export const accessScopes: readonly AccessScope[] = accessClasses;

/** What a client is told to ask for at first: it asks for more once a call needs it. */
export const firstScopes: readonly AccessScope[] = ["read", "write"];

/** What tokens may do, as clients are told: classes, and toolkits where they are not all. */
export function scopeText(granted: { accessClasses: readonly AccessScope[]; toolkitSlugs: readonly string[] }): string {
  const { accessClasses: classes, toolkitSlugs } = granted;
  return [...(classes.length === 0 ? accessScopes : classes), ...toolkitSlugs.map((slug) => `toolkit:${slug}`)].join(
    " ",
  );
}
