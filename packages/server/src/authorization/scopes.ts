import {
  type AgentToolGroup,
  agentToolGroups,
  type Binding,
  bindingOf,
  isEntityId,
  isOfWholeProject,
  mayUseAgentTools,
  type ToolNotGranted,
} from "@svc/core";
import type { ApiKey } from "@svc/db/keys/repo";
import { accessClasses, type StoredAccessClass } from "@svc/db/schema/words";

/** What a grant may do, by the access classes of tools: a scope is called as its class. */
export type AccessScope = StoredAccessClass;

/** All of them. */
export const accessScopes: readonly AccessScope[] = accessClasses;

/** What a client is told to ask for at first: it asks for more once a call needs it. */
export const firstScopes: readonly AccessScope[] = ["read", "write"];

/** The scopes that a token needs for a tool that it was refused: what it has, and what is missing. */
export function scopesNeeded({ tool, binding: { accessClasses: classes, toolkitSlugs } }: ToolNotGranted): string {
  const [toolkit = ""] = tool.slug.split(".");
  const needed = { accessClasses: accessScopes.filter((one) => one === tool.class || isIn(classes, one)) };
  return scopeText({
    ...needed,
    toolkitSlugs: toolkitSlugs.length === 0 ? [] : [...new Set([...toolkitSlugs, toolkit])],
  });
}

/** An empty list has everything. */
function isIn(list: readonly string[], one: string): boolean {
  return list.length === 0 || list.includes(one);
}

/** What tokens may do, as clients are told: classes, and toolkits where they are not all. */
export function scopeText(granted: { accessClasses: readonly AccessScope[]; toolkitSlugs: readonly string[] }): string {
  const { accessClasses: classes, toolkitSlugs } = granted;
  return [...(classes.length === 0 ? accessScopes : classes), ...toolkitSlugs.map((slug) => `toolkit:${slug}`)].join(
    " ",
  );
}

/** What a person may let an agent do: no more than their own key may. */
export type Offer = {
  /** The one entity there is to choose; empty where any may be. */
  readonly entityId: string;
  /** Entities that have accounts, to choose from. */
  readonly entities: readonly string[];
  readonly accessClasses: readonly StoredAccessClass[];
  readonly toolkits: readonly { readonly slug: string; readonly name: string }[];
  /** What it may be given beside the tools of apps. */
  readonly agentTools: readonly AgentToolGroup[];
  /** Whether choosing no toolkit can mean all that will ever be. */
  readonly isAnyToolkit: boolean;
};

/** What is known of a project, of which a key may offer a part. */
export type OfferSources = {
  readonly toolkits: Offer["toolkits"];
  readonly entities: readonly string[];
};

/** What the holder of a key may let an agent do. */
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

/** Whether the holder of a key may give a group: what the key does anyway, to see how things stand among it; to repair only who was given that. */
function mayGive(key: Pick<ApiKey, keyof Binding | "agentTools">, group: AgentToolGroup): boolean {
  const { agentTools } = key;
  const binding = bindingOf(key);
  return mayUseAgentTools({ agentTools, binding }, group) || (group === "operate" && isOfWholeProject(key));
}

/** What a person chose: what the grant is bound to, and what it is given beside the tools of apps. */
export type Choice = Binding & { readonly agentTools: readonly AgentToolGroup[] };

/**
 * Reads what a person chose of an offer, or why it is no choice, as a sentence for them. Where the program named toolkits, to choose none is
 * no choice: who took away what was asked for, or could not give it, has not given everything else.
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
  // Of one entity, or of some toolkits, nobody sees how the whole project stands.
  const isUsable = (group: AgentToolGroup) => mayUseAgentTools({ agentTools: [group], binding }, group);
  // An empty list means all of them: of a key that has only some, these.
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
