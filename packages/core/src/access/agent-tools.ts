import type { Binding } from "./binding.ts";

/**
 * Tool groups that a key or a grant may get over MCP, in addition to the tools of apps. `programs` checks and runs programs, `connect`
 * makes links to connections, `operate` reads the state of events and deliveries, `repair` redelivers and releases posts.
 */
export const agentToolGroups = ["programs", "connect", "operate", "repair"] as const;

/** A tool group. */
export type AgentToolGroup = (typeof agentToolGroups)[number];

/** The caller's properties that these tools depend on. */
type AgentToolHolder = {
  readonly agentTools?: readonly AgentToolGroup[] | undefined;
  readonly isGrant?: boolean | undefined;
  readonly binding?: Binding | undefined;
};

/** Groups for actions that a project's key may do by API calls, even without the tools. */
const ofKeys: ReadonlySet<AgentToolGroup> = new Set(["programs", "connect"]);

/** Groups that need access to the whole project, so scoped keys cannot use them. */
const ofProject: ReadonlySet<AgentToolGroup> = new Set(["operate", "repair"]);

/** True if a key with this scope has access to every entity and toolkit; tool classes do not limit access to the project. */
export function isOfWholeProject(binding: Pick<Binding, "entityId" | "toolkitSlugs"> | undefined): boolean {
  return binding === undefined || (binding.entityId === "" && binding.toolkitSlugs.length === 0);
}

/** True if the caller may use a tool group: a grant only those it was given, a key also those that its role allows. */
export function mayUseAgentTools(
  { agentTools = [], isGrant = false, binding }: AgentToolHolder,
  group: AgentToolGroup,
): boolean {
  if (ofProject.has(group) && !isOfWholeProject(binding)) return false;
  return agentTools.includes(group) || (!isGrant && ofKeys.has(group));
}
