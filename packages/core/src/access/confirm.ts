/** Calls that a person must confirm before they are sent: none, destructive ones, or all writes. Each includes the previous ones. */
export const confirmScopes = ["never", "destructive", "writes"] as const;

/** Calls that a person must confirm. */
export type ConfirmScope = (typeof confirmScopes)[number];

/** Confirmation rule of a project or a key: which calls a person confirms, and how. */
export type ConfirmRule = {
  readonly person: ConfirmScope;
  /** The contact who is asked. */
  readonly contact: string;
  /** True if an MCP client may ask its own user instead. Default: false. */
  readonly elicitation?: boolean;
};

/** The rule that requires no confirmation. */
export const noConfirmRule: ConfirmRule = { person: "never", contact: "" };

/** Time for a person to confirm a call, in milliseconds. After that, the call is refused. */
export const confirmLifeMs: number = 600_000;

/** True if a rule requires confirmation for at least the calls of the other one, and does not add elicitation. */
export function isAsStrict(rule: ConfirmRule, other: ConfirmRule): boolean {
  if (other.person === "never") return true;
  if (rule.elicitation === true && other.elicitation !== true) return false;
  return confirmScopes.indexOf(rule.person) >= confirmScopes.indexOf(other.person);
}

/**
 * Returns the rules that cover any calls, in order: the project's before the key's, so that a key cannot choose another contact than its
 * project.
 */
export function confirmRulesOf(...rules: readonly ConfirmRule[]): readonly ConfirmRule[] | undefined {
  const said = rules.filter(({ person }) => person !== "never");
  return said.length === 0 ? undefined : said;
}

/** Returns the first rule that requires confirmation for calls of a class; undefined if none does. */
export function confirmingRule(
  rules: readonly ConfirmRule[] | undefined,
  accessClass: "read" | "write" | "destructive",
): ConfirmRule | undefined {
  return rules?.find((rule) => covers(rule, accessClass));
}

/** True if every rule that covers a class lets an MCP client ask its own user. */
export function mayElicit(
  rules: readonly ConfirmRule[] | undefined,
  accessClass: "read" | "write" | "destructive",
): boolean {
  return (rules ?? []).every((rule) => !covers(rule, accessClass) || rule.elicitation === true);
}

function covers({ person }: ConfirmRule, accessClass: "read" | "write" | "destructive"): boolean {
  if (accessClass === "read") return false;
  return person === "writes" || (person === "destructive" && accessClass === "destructive");
}

/** Maximum values of a call limit. PutCallLimit enforces them, and so do clients that read a limit before sending it. */
export const callLimitBounds = {
  /** Concurrent calls. */
  concurrencyMax: 10_000,
  /** Calls within the period of a rate. */
  rateMax: 100_000,
} as const;
