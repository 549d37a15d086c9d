import type { Grant } from "@svc/gen/grants";

/** What is kept of a grant as it is narrowed: `typed` are toolkits where the grant has no list of its own, commas between. */
export type Kept = { accessClasses: readonly string[]; toolkitSlugs: readonly string[]; typed: string };

/** What the form begins with: all that the grant has. */
export function keptOf({ accessClasses, toolkitSlugs }: Pick<Grant, "accessClasses" | "toolkitSlugs">): Kept {
  return { accessClasses, toolkitSlugs, typed: "" };
}

/** What is kept, as the request has it: a list that is kept whole is left out, which leaves it as it is. */
export function narrowing(
  grant: Pick<Grant, "accessClasses" | "toolkitSlugs">,
  { accessClasses, toolkitSlugs, typed }: Kept,
): { accessClasses: string[]; toolkitSlugs: string[] } {
  const part = (kept: readonly string[], all: readonly string[]) => (kept.length === all.length ? [] : [...kept]);
  const named = typed
    .split(",")
    .map((slug) => slug.trim())
    .filter(Boolean);
  return {
    accessClasses: part(accessClasses, grant.accessClasses),
    toolkitSlugs: grant.toolkitSlugs.length === 0 ? named : part(toolkitSlugs, grant.toolkitSlugs),
  };
}

/** Why what is kept cannot be sent; undefined where it can. */
export function whyNotNarrowed(grant: Pick<Grant, "accessClasses" | "toolkitSlugs">, kept: Kept): string | undefined {
  const isNothing =
    kept.accessClasses.length === 0 || (grant.toolkitSlugs.length > 0 && kept.toolkitSlugs.length === 0);
  if (isNothing) return "Nothing would be left: revoke the grant instead.";
  const { accessClasses, toolkitSlugs } = narrowing(grant, kept);
  return accessClasses.length + toolkitSlugs.length === 0 ? "Nothing is taken away yet." : undefined;
}
