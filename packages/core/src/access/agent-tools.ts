import type { Binding } from "./binding.ts";

/**
 * Tool groups that a key or a grant (a person's permission for an agent) may use over MCP, in addition to the tools of apps. `programs`:
 * checks and runs programs. `connect`: makes links with which a person connects an account. `operate`: reads the state of events and
 * deliveries. `repair`: redelivers events and releases quarantined webhook posts.
 */
export const agentToolGroups = ["programs", "connect", "operate", "repair"] as const;

/** Name of one group of svc's own tools: one of the values of `agentToolGroups`. */
export type AgentToolGroup = (typeof agentToolGroups)[number];

/** Properties of a caller (an API key, or a grant that a person gave to an agent) that decide which tools of svc itself it may use. */
type AgentToolHolder = {
  readonly agentTools?: readonly AgentToolGroup[] | undefined;
  readonly isGrant?: boolean | undefined;
  readonly binding?: Binding | undefined;
};

/** Tool groups that every API key of a project may use. They give a key nothing new: it could do the same with calls of the API. */
const ofKeys: ReadonlySet<AgentToolGroup> = new Set(["programs", "connect"]);

/** Tool groups that a key with a limited scope cannot use. Their tools act on the whole project. */
const ofProject: ReadonlySet<AgentToolGroup> = new Set(["operate", "repair"]);

/**
 * True if a key with this scope can access every entity and every toolkit (app) of the project. False if the scope names an entity
 * (customer or user) or toolkits. The scope's access classes (read, write, destructive) have no influence.
 */
export function isOfWholeProject(binding: Pick<Binding, "entityId" | "toolkitSlugs"> | undefined): boolean {
  return binding === undefined || (binding.entityId === "" && binding.toolkitSlugs.length === 0);
}

/**
 * True if the caller may use a tool group. A grant (a person's permission for an agent) may use only the groups given to it. A key may use
 * the groups given to it, and also `programs` and `connect`. False for `operate` and `repair` if the caller's scope is limited.
 */
export function mayUseAgentTools(
  { agentTools = [], isGrant = false, binding }: AgentToolHolder,
  group: AgentToolGroup,
): boolean {
  if (ofProject.has(group) && !isOfWholeProject(binding)) return false;
  return agentTools.includes(group) || (!isGrant && ofKeys.has(group));
}
