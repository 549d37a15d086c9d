/** Which calls a person confirms before they are sent: none, those that destroy, or all that write. Each has the ones before it, too. */
export const confirmScopes = ["never", "destructive", "writes"] as const;

/** Which calls a person confirms. */
export type ConfirmScope = (typeof confirmScopes)[number];

/** Rule of a project or a key: which of its calls a person confirms, and how. */
export type ConfirmRule = {
  readonly person: ConfirmScope;
  /** The contact who is asked. */
  readonly contact: string;
  /** True if an MCP client may put the question to its own user instead. Default: false. */
  readonly elicitation?: boolean;
};

/** The rule under which no call needs a person. */
export const noConfirmRule: ConfirmRule = { person: "never", contact: "" };

/** How long a person may take to confirm a call, in milliseconds. After that the answer is no. */
export const confirmLifeMs: number = 600_000;

/** True if a rule has a person confirm at least the calls of another one, and does not add elicitation to it. */
export function isAsStrict(rule: ConfirmRule, other: ConfirmRule): boolean {
  if (other.person === "never") return true;
  if (rule.elicitation === true && other.elicitation !== true) return false;
  return confirmScopes.indexOf(rule.person) >= confirmScopes.indexOf(other.person);
}

/** Returns the rules that name any calls, in their order: a project's before its key's own, so that no key has others asked than the project. */
export function confirmRulesOf(...rules: readonly ConfirmRule[]): readonly ConfirmRule[] | undefined {
  const said = rules.filter(({ person }) => person !== "never");
  return said.length === 0 ? undefined : said;
}

/** Returns the first rule by which a person confirms calls of tools of a class; undefined if no rule does. */
export function confirmingRule(
  rules: readonly ConfirmRule[] | undefined,
  accessClass: "read" | "write" | "destructive",
): ConfirmRule | undefined {
  return rules?.find((rule) => covers(rule, accessClass));
}

/** True if every rule that covers a class lets an MCP client put the question to its own user. */
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

/** The most that a call limit may say: PutCallLimit holds limits to it, and so does whoever reads one before it is sent. */
export const callLimitBounds = {
  /** Calls under way at once. */
  concurrencyMax: 10_000,
  /** Calls within the time of a rate. */
  rateMax: 100_000,
} as const;
