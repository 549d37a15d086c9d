import { type Binding, isEntityId } from "@svc/core";
import { type AccessClass, type ApiKey, accessClasses } from "@svc/db";

/** What a person may let an agent do: no more than their own key may. */
export type Offer = {
  /** The one entity there is to choose; empty where any may be. */
  readonly entityId: string;
  /** Entities that have accounts, to choose from. */
  readonly entities: readonly string[];
  readonly accessClasses: readonly AccessClass[];
  readonly toolkits: readonly { readonly slug: string; readonly name: string }[];
  /** Whether choosing no toolkit can mean all that will ever be. */
  readonly isAnyToolkit: boolean;
};

/** What is known of a project, of which a key may offer a part. */
export type OfferSources = {
  readonly toolkits: Offer["toolkits"];
  readonly entities: readonly string[];
};

/** What the holder of a key may let an agent do. */
export function offerOf(key: Pick<ApiKey, keyof Binding>, { toolkits, entities }: OfferSources): Offer {
  const isAnyToolkit = key.toolkitSlugs.length === 0;
  return {
    entityId: key.entityId,
    entities: key.entityId === "" ? [...new Set(entities)] : [],
    accessClasses: key.accessClasses.length === 0 ? accessClasses : key.accessClasses,
    toolkits: isAnyToolkit ? toolkits : toolkits.filter(({ slug }) => key.toolkitSlugs.includes(slug)),
    isAnyToolkit,
  };
}

/** Reads what a person chose of an offer: what the grant is bound to, or why it is no choice, as a sentence for them. */
export function readChoice(form: URLSearchParams, offer: Offer): Binding | { readonly fault: string } {
  const entityId = offer.entityId || (form.get("entity") ?? "").trim();
  const isAnyEntity = offer.entityId === "" && form.get("any-entity") !== null;
  if (!isAnyEntity && !isEntityId(entityId))
    return { fault: "Name the entity whose accounts it may use, in at most 200 characters, or choose any entity." };
  const asked = form.getAll("access");
  const classes = offer.accessClasses.filter((one) => asked.includes(one));
  if (classes.length === 0) return { fault: "Choose at least one of reading, writing and destroying." };
  const slugs = form.getAll("toolkit");
  const chosen = offer.toolkits.map(({ slug }) => slug).filter((slug) => slugs.includes(slug));
  if (chosen.length < new Set(slugs).size) return { fault: "A toolkit that was chosen is not there any more." };
  if (chosen.length > toolkitsMax) return { fault: `Choose at most ${toolkitsMax} toolkits, or none to allow all.` };
  // An empty list means all of them: of a key that has only some, these.
  const all = offer.isAnyToolkit ? [] : offer.toolkits.map(({ slug }) => slug);
  if (chosen.length === 0 && !offer.isAnyToolkit && all.length === 0)
    return { fault: "None of the toolkits that the key is bound to is there." };
  return {
    entityId: isAnyEntity ? "" : entityId,
    accessClasses: classes,
    toolkitSlugs: chosen.length > 0 ? chosen : all,
  };
}

const toolkitsMax = 100;
