import type { Binding } from "./binding.ts";

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
