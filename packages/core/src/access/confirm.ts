import type { Binding } from "./binding.ts";

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

/**
 * What a key or a grant may be given over MCP beside the tools of apps. `programs` checks and runs programs, `connect` makes links to
 * connections, `operate` reads how events and deliveries stand, `repair` sends deliveries again and releases posts.
 */
export const agentToolGroups = ["programs", "connect", "operate", "repair"] as const;

/** One of them. */
export type AgentToolGroup = (typeof agentToolGroups)[number];

/** Whoever calls, as far as these tools go. */
type AgentToolHolder = {
  readonly agentTools?: readonly AgentToolGroup[] | undefined;
  readonly isGrant?: boolean | undefined;
  readonly binding?: Binding | undefined;
};

/** What a project's key does by calls, whether it is given the tools or not. */
const ofKeys: ReadonlySet<AgentToolGroup> = new Set(["programs", "connect"]);
/** What reaches the whole project, and so is for nobody who is bound to a part of it. */
const ofProject: ReadonlySet<AgentToolGroup> = new Set(["operate", "repair"]);

/** Whether whoever is bound so reaches every entity and toolkit; classes of tools are no part of a project. */
export function isOfWholeProject(binding: Pick<Binding, "entityId" | "toolkitSlugs"> | undefined): boolean {
  return binding === undefined || (binding.entityId === "" && binding.toolkitSlugs.length === 0);
}

/** Whether whoever calls may use the tools of a group: a grant those that it was given, a key those too that its role has anyway. */
export function mayUseAgentTools(
  { agentTools = [], isGrant = false, binding }: AgentToolHolder,
  group: AgentToolGroup,
): boolean {
  if (ofProject.has(group) && !isOfWholeProject(binding)) return false;
  return agentTools.includes(group) || (!isGrant && ofKeys.has(group));
}
