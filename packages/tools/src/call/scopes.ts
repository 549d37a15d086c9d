/**
 * Scopes that a tool needs and an account was not granted. Nothing is missing when the app named no scopes. A granted scope covers
 * those that refine it with a dot: `…/calendar` covers `…/calendar.events.readonly`.
 */
export function missingScopes(needed: readonly string[], granted: readonly string[]): string[] {
  if (granted.length === 0) return [];
  return needed.filter((scope) => !granted.some((held) => scope === held || scope.startsWith(`${held}.`)));
}
