/** Which calls a person confirms before they are sent: none, those that destroy, or all that write. Each has the ones before it, too. */
export const confirmScopes = ["never", "destructive", "writes"] as const;

/** Which calls a person confirms. */
export type ConfirmScope = (typeof confirmScopes)[number];

/** Which calls a person confirms, and the contact who is asked: of all keys of a project, or of one key. */
export type ConfirmRule = { readonly person: ConfirmScope; readonly contact: string };

/** Where nobody confirms anything. */
export const noConfirmRule: ConfirmRule = { person: "never", contact: "" };

/** How long a person may take to confirm a call, milliseconds. Nobody's answer is no. */
export const confirmLifeMs: number = 600_000;

/** Whether a rule has a person confirm at least what another has. */
export function isAsStrict(rule: ConfirmRule, other: ConfirmRule): boolean {
  return confirmScopes.indexOf(rule.person) >= confirmScopes.indexOf(other.person);
}

/** The rules of a caller that say anything: its project's before its key's own, so that no key has others asked than the project says. */
export function confirmRulesOf(...rules: readonly ConfirmRule[]): readonly ConfirmRule[] | undefined {
  const said = rules.filter(({ person }) => person !== "never");
  return said.length === 0 ? undefined : said;
}

/** The first of some rules by which a person confirms a call of a tool of a class; undefined where nobody does. */
export function confirmingRule(
  rules: readonly ConfirmRule[] | undefined,
  accessClass: "read" | "write" | "destructive",
): ConfirmRule | undefined {
  if (accessClass === "read") return undefined;
  return rules?.find(
    ({ person }) => person === "writes" || (person === "destructive" && accessClass === "destructive"),
  );
}
