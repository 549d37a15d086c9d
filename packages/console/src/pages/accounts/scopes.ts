/**
 * An OAuth scope that the tools of an app need. `tools`: number of the tools that need it. `isGranted`: true if the account has the scope.
 */
export type NeededScope = { readonly scope: string; readonly tools: number; readonly isGranted: boolean };

/**
 * Returns the OAuth scopes to show for an account. `needed`: scopes that tools need, missing ones first. `others`: granted scopes that no
 * tool needs. A granted scope includes scopes that continue its name after a dot: `files` includes `files.read`. If the app reports no
 * granted scopes, all count as granted.
 */
export function scopesOf(
  granted: readonly string[],
  tools: readonly { requiredScopes: readonly string[] }[],
): { needed: readonly NeededScope[]; others: readonly string[] } {
  const counts = new Map<string, number>();
  for (const scope of tools.flatMap(({ requiredScopes }) => requiredScopes)) {
    counts.set(scope, (counts.get(scope) ?? 0) + 1);
  }
  const needed = [...counts].map(([scope, count]) => ({ scope, tools: count, isGranted: covers(granted, scope) }));
  return {
    needed: needed.sort((a, b) => Number(a.isGranted) - Number(b.isGranted) || a.scope.localeCompare(b.scope)),
    others: granted.filter((scope) => !counts.has(scope)),
  };
}

function covers(granted: readonly string[], scope: string): boolean {
  return granted.length === 0 || granted.some((held) => scope === held || scope.startsWith(`${held}.`));
}
