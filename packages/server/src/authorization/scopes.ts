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

/** Scope of a grant: an access class of tools, with the same name. */
export type AccessScope = StoredAccessClass;

/** All scopes. */
export const accessScopes: readonly AccessScope[] = accessClasses;

/** Scopes that a client should request first. It requests more when a call needs them. */
export const firstScopes: readonly AccessScope[] = ["read", "write"];

/** Returns the scope text of a grant: its access classes, and its toolkits unless it has all. */
export function scopeText(granted: { accessClasses: readonly AccessScope[]; toolkitSlugs: readonly string[] }): string {
  const { accessClasses: classes, toolkitSlugs } = granted;
  return [...(classes.length === 0 ? accessScopes : classes), ...toolkitSlugs.map((slug) => `toolkit:${slug}`)].join(
    " ",
  );
}

/** Access that a person can give to an agent: never more than their own key has. */
export type Offer = {
  /** Entity that the key is scoped to; empty if the person can choose any. */
  readonly entityId: string;
  /** Entities with connected accounts, as suggestions. */
  readonly entities: readonly string[];
  readonly accessClasses: readonly StoredAccessClass[];
  readonly toolkits: readonly { readonly slug: string; readonly name: string }[];
  /** Groups of svc's own tools that the person can give. */
  readonly agentTools: readonly AgentToolGroup[];
  /** True if choosing no toolkit means all, later ones included. */
  readonly isAnyToolkit: boolean;
};

/** Toolkits and entities of a project. A key can offer some or all of them. */
export type OfferSources = {
  readonly toolkits: Offer["toolkits"];
  readonly entities: readonly string[];
};

/** Returns the access that the holder of a key can give. */
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

/** True if a key can give a tool group: the groups that it may use, and `operate` if the key is of the whole project. */
function mayGive(key: Pick<ApiKey, keyof Binding | "agentTools">, group: AgentToolGroup): boolean {
  const { agentTools } = key;
  const binding = bindingOf(key);
  return mayUseAgentTools({ agentTools, binding }, group) || (group === "operate" && isOfWholeProject(key));
}

/** Choice of a person: the binding of the grant, and its groups of svc's own tools. */
export type Choice = Binding & { readonly agentTools: readonly AgentToolGroup[] };

/**
 * Reads the person's choice of an offer. Returns a sentence for them as `fault` if it is not valid. If the client asked for toolkits, choosing none
 * is not valid, so that a person who rejects them does not give all the others.
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
  if (chosen.length < new Set(slugs).size) return { fault: "A toolkit that was chosen is not there any more." };
  if (chosen.length > toolkitsMax) return { fault: `Choose at most ${toolkitsMax} toolkits, or none to allow all.` };
  if (chosen.length === 0 && !isEveryToolkit && asked.toolkitSlugs.length > 0)
    return { fault: "Choose the toolkits that it may use, or all of them." };
  const given = form.getAll("agent-tools");
  const binding = { entityId: isAnyEntity ? "" : entityId, accessClasses: classes, toolkitSlugs: chosen };
  // A grant for one entity or some toolkits cannot use groups that show the whole project.
  const isUsable = (group: AgentToolGroup) => mayUseAgentTools({ agentTools: [group], binding }, group);
  // An empty list means all. For a key that has only some toolkits, the list names them.
  const all = offer.isAnyToolkit ? [] : offer.toolkits.map(({ slug }) => slug);
  if (chosen.length === 0 && !offer.isAnyToolkit && all.length === 0)
    return { fault: "None of the toolkits that the key is bound to is there." };
  return {
    entityId: isAnyEntity ? "" : entityId,
    accessClasses: classes,
    toolkitSlugs: chosen.length > 0 ? chosen : all,
    agentTools: offer.agentTools.filter((group) => isUsable(group) && given.includes(group)),
  };
}

const toolkitsMax = 100;
