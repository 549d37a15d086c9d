import {
  type AgentToolGroup,
  agentToolGroups,
  type Binding,
  bindingOf,
  isEntityId,
  isOfWholeProject,
  mayUseAgentTools,
} from "@svc/core";
import type { ApiKey } from "@svc/db/keys/repo";
import { accessClasses, type StoredAccessClass } from "@svc/db/schema/words";

/** OAuth scope of a grant (a person's permission for an agent). It has the name of an access class of tools. */
export type AccessScope = StoredAccessClass;

/**
 * All access scopes of grants (people's permissions for agents). Each is an OAuth scope with the name of an access class of tools (for
 * example `read`).
 */
export const accessScopes: readonly AccessScope[] = accessClasses;

/** Scopes that a client should request first. It can request more when a call needs them. */
export const firstScopes: readonly AccessScope[] = ["read", "write"];

/**
 * Returns the OAuth scope text of a grant (a person's permission for an agent): its access classes, and its toolkits (apps) if it is
 * limited to some.
 */
export function scopeText(granted: Omit<Binding, "entityId">): string {
  return [...classesOf(granted), ...granted.toolkitSlugs.map(toolkitScope)].join(" ");
}

/**
 * Returns the OAuth scopes that a caller needs for a tool. The list of tools and the challenge of a refused call both use this function.
 * Scopes of toolkits (apps) are included only if the caller is limited to some toolkits. A caller without this limit must not request such
 * a scope, because it would then be limited to the requested toolkits.
 */
export function scopesOfTool(
  { accessClasses: needed, toolkitSlugs }: Omit<Binding, "entityId">,
  caller: Binding | undefined,
): readonly string[] {
  const isLimited = caller !== undefined && caller.toolkitSlugs.length > 0;
  const toolkits = isLimited ? [...new Set(toolkitSlugs)].map(toolkitScope) : [];
  return [...accessScopes.filter((scope) => needed.includes(scope)), ...toolkits];
}

/** Returns the access classes of a grant (a person's permission for an agent). An empty list in the grant means all classes. */
export function classesOf({ accessClasses: classes }: Pick<Binding, "accessClasses">): readonly AccessScope[] {
  return classes.length === 0 ? accessScopes : classes;
}

function toolkitScope(slug: string): string {
  return `toolkit:${slug}`;
}

/** Access that a person can give to an agent. It is never more than the access of the person's own key. */
export type Offer = {
  /** Entity (customer or user) to which the person's key is scoped; empty if the person can choose any entity. */
  readonly entityId: string;
  /** Entities with connected accounts, as suggestions for the person. */
  readonly entities: readonly string[];
  readonly accessClasses: readonly StoredAccessClass[];
  readonly toolkits: readonly { readonly slug: string; readonly name: string }[];
  /** Groups of svc's own tools (for example `programs`) that the person can allow the agent to use. */
  readonly agentTools: readonly AgentToolGroup[];
  /**
   * True if choosing no toolkit (app) means all toolkits, including those that are added later. False if the person's key is limited to
   * some toolkits; choosing none then means these.
   */
  readonly isAnyToolkit: boolean;
};

/** Toolkits and entities (customers or users) of a project. A key can give access to all or some of them. */
export type OfferSources = {
  readonly toolkits: Offer["toolkits"];
  readonly entities: readonly string[];
};

/**
 * Returns the access that a person who signs in with this key can give an OAuth client: entities (customers or users), access classes,
 * toolkits (apps) and tool groups.
 */
export function offerOf(key: Pick<ApiKey, keyof Binding | "agentTools">, { toolkits, entities }: OfferSources): Offer {
  const isAnyToolkit = key.toolkitSlugs.length === 0;
  return {
    entityId: key.entityId,
    entities: key.entityId === "" ? [...new Set(entities)] : [],
    accessClasses: key.accessClasses.length === 0 ? accessClasses : key.accessClasses,
    toolkits: isAnyToolkit ? toolkits : toolkits.filter(({ slug }) => key.toolkitSlugs.includes(slug)),
    isAnyToolkit,
    agentTools: agentToolGroups.filter((group) => mayGive(key, group)),
  };
}

/**
 * True if a person with this key can give a client the tool group. The key must have the group itself. For the group `operate`, access to
 * the whole project is enough.
 */
function mayGive(key: Pick<ApiKey, keyof Binding | "agentTools">, group: AgentToolGroup): boolean {
  const { agentTools } = key;
  const binding = bindingOf(key);
  return mayUseAgentTools({ agentTools, binding }, group) || (group === "operate" && isOfWholeProject(key));
}

/**
 * The access that a person chooses for an OAuth client on the consent page: the scope, and the groups of svc's own tools (`agentTools`).
 */
export type Choice = Binding & { readonly agentTools: readonly AgentToolGroup[] };

/**
 * Returns the access that the person chose in the form. If the choice is not valid, returns `fault`, a sentence for the person. If the
 * client asked for certain toolkits (apps), the person must choose at least one toolkit. An empty choice would mean all toolkits, although
 * a person who removes all requested toolkits wants to give less.
 */
export function readChoice(
  form: URLSearchParams,
  offer: Offer,
  asked: { readonly toolkitSlugs: readonly string[] },
): Choice | { readonly fault: string } {
  const entityId = offer.entityId || (form.get("entity") ?? "").trim();
  const isAnyEntity = offer.entityId === "" && form.get("any-entity") !== null;
  if (!isAnyEntity && !isEntityId(entityId))
    return { fault: "Name the entity whose accounts it may use, in at most 200 characters, or choose any entity." };
  const access = form.getAll("access");
  const classes = offer.accessClasses.filter((one) => access.includes(one));
  if (classes.length === 0) return { fault: "Choose at least one of reading, writing and destroying." };
  const isEveryToolkit = form.get("any-toolkit") !== null;
  const slugs = isEveryToolkit ? [] : form.getAll("toolkit");
  const chosen = offer.toolkits.map(({ slug }) => slug).filter((slug) => slugs.includes(slug));
  if (chosen.length < new Set(slugs).size) return { fault: "A chosen toolkit no longer exists." };
  if (chosen.length > toolkitsMax) return { fault: `Choose at most ${toolkitsMax} toolkits, or none to allow all.` };
  if (chosen.length === 0 && !isEveryToolkit && asked.toolkitSlugs.length > 0)
    return { fault: "Choose the toolkits that it may use, or all of them." };
  const given = form.getAll("agent-tools");
  const binding = { entityId: isAnyEntity ? "" : entityId, accessClasses: classes, toolkitSlugs: chosen };
  // A grant that is limited to one entity or some toolkits cannot use groups of tools that show the whole project.
  const isUsable = (group: AgentToolGroup) => mayUseAgentTools({ agentTools: [group], binding }, group);
  // An empty list means all toolkits. If the key itself is limited to some toolkits, the list names them.
  const all = offer.isAnyToolkit ? [] : offer.toolkits.map(({ slug }) => slug);
  if (chosen.length === 0 && !offer.isAnyToolkit && all.length === 0)
    return { fault: "None of the toolkits that the key is limited to exists." };
  return {
    entityId: isAnyEntity ? "" : entityId,
    accessClasses: classes,
    toolkitSlugs: chosen.length > 0 ? chosen : all,
    agentTools: offer.agentTools.filter((group) => isUsable(group) && given.includes(group)),
  };
}

const toolkitsMax = 100;
