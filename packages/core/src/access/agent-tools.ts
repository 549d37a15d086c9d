import type { Binding } from "./binding.ts";

/**
 * Tool groups that a key or a grant may use over MCP, in addition to the tools of apps. `programs`: checks and runs programs. `connect`:
 * makes links with which a person connects an account. `operate`: reads the state of events and deliveries. `repair`: redelivers events and
 * releases quarantined posts.
 */
export const agentToolGroups = ["programs", "connect", "operate", "repair"] as const;

/** One of the tool groups. */
export type AgentToolGroup = (typeof agentToolGroups)[number];

/** Properties of a caller that decide which tool groups the caller may use. */
type AgentToolHolder = {
  readonly agentTools?: readonly AgentToolGroup[] | undefined;
  readonly isGrant?: boolean | undefined;
  readonly binding?: Binding | undefined;
};

/** Tool groups that every API key of a project may use, because the key may make the same API calls anyway. */
const ofKeys: ReadonlySet<AgentToolGroup> = new Set(["programs", "connect"]);

/** Groups that need access to the whole project, so scoped keys cannot use them. */
const ofProject: ReadonlySet<AgentToolGroup> = new Set(["operate", "repair"]);

/** True if a key with this scope can access every entity and every toolkit. A limit on tool classes does not matter here. */
export function isOfWholeProject(binding: Pick<Binding, "entityId" | "toolkitSlugs"> | undefined): boolean {
  return binding === undefined || (binding.entityId === "" && binding.toolkitSlugs.length === 0);
}

/** True if the caller may use a tool group. A grant may use only the groups given to it. A key may also use `programs` and `connect`. */
export function mayUseAgentTools(
  { agentTools = [], isGrant = false, binding }: AgentToolHolder,
  group: AgentToolGroup,
): boolean {
  if (ofProject.has(group) && !isOfWholeProject(binding)) return false;
  return agentTools.includes(group) || (!isGrant && ofKeys.has(group));
}
