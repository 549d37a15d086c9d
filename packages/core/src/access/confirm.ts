/** Calls that a person must confirm before svc sends them: no calls, destructive calls, or all writes (destructive calls included). */
export const confirmScopes = ["never", "destructive", "writes"] as const;

/** One of the values of `confirmScopes`: which calls a person must confirm. */
export type ConfirmScope = (typeof confirmScopes)[number];

/** Confirmation rule of a project or a key: which calls a person must confirm, and how svc asks the person. */
export type ConfirmRule = {
  readonly person: ConfirmScope;
  /** Name of the contact (a person or a channel) that svc asks for confirmation. */
  readonly contact: string;
  /** True if an MCP client may ask its own user to confirm a call. svc then does not ask the contact of this rule. Default: false. */
  readonly elicitation?: boolean;
};

/** The rule that requires no confirmation. */
export const noConfirmRule: ConfirmRule = { person: "never", contact: "" };

/** Time for a person to confirm a call, in milliseconds. After this time, svc refuses the call. */
export const confirmLifeMs: number = 600_000;

/**
 * True if `rule` is at least as strict as `other`. It must require confirmation for all calls for which `other` requires it. It must also
 * forbid elicitation (an MCP client asks its own user) if `other` forbids it.
 */
export function isAsStrict(rule: ConfirmRule, other: ConfirmRule): boolean {
  if (other.person === "never") return true;
  if (rule.elicitation === true && other.elicitation !== true) return false;
  return confirmScopes.indexOf(rule.person) >= confirmScopes.indexOf(other.person);
}

/**
 * Returns a rule that is as strict as each of the rules: the first of those with the widest scope. It allows elicitation only if all rules
 * that require confirmation allow it.
 */
export function strictestRule(rules: readonly ConfirmRule[]): ConfirmRule {
  const asking = rules.filter(({ person }) => person !== "never");
  const widest = asking.find(({ person }) => person === "writes") ?? asking[0];
  if (widest === undefined) return noConfirmRule;
  const { elicitation: _elicitation, ...rule } = widest;
  return asking.every(({ elicitation }) => elicitation === true) ? { ...rule, elicitation: true } : rule;
}

/**
 * Returns the rules without those that never require confirmation; undefined if none is left. Pass the project's rule before the key's. For
 * each call, the first rule that applies decides which contact is asked.
 */
export function confirmRulesOf(...rules: readonly ConfirmRule[]): readonly ConfirmRule[] | undefined {
  const said = rules.filter(({ person }) => person !== "never");
  return said.length === 0 ? undefined : said;
}

/** Returns the first rule that requires confirmation for calls of a class; undefined if no rule does. */
export function confirmingRule(
  rules: readonly ConfirmRule[] | undefined,
  accessClass: "read" | "write" | "destructive",
): ConfirmRule | undefined {
  return rules?.find((rule) => covers(rule, accessClass));
}

/**
 * True if an MCP client may ask its own user to confirm calls of this class. False if a rule that requires confirmation for the class does
 * not allow that.
 */
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

/**
 * Maximum values in a call limit. The call PutCallLimit refuses higher values. Clients check the same maximums before they send a limit.
 */
export const callLimitBounds = {
  /** Highest number of concurrent calls that a call limit may allow. */
  concurrencyMax: 10_000,
  /** Highest number of calls that a call limit may allow in one period of its rate. */
  rateMax: 100_000,
} as const;
