import { type Catalog, catalogFaults } from "@svc/catalog";
import { type AgentToolGroup, agentToolGroups, type Binding, isEntityId, skillsToolkitSlug } from "@svc/core";
import { accessClasses, type StoredAccessClass } from "@svc/db/schema/words";
import type { CreateApiKeyRequest } from "@svc/gen/admin";
import { adminFaults } from "./errors.ts";

const toolkitsMax = 100;
const slugPattern = /^[a-z][a-z0-9_]{0,62}$/;

/**
 * Reads the scope of a new key from the request: its entity, access classes and toolkits. Throws ENTITY_ID_INVALID, ACCESS_CLASS_INVALID or
 * TOOLKIT_SLUGS_INVALID if a value is not valid.
 */
export function readBinding(request: Pick<CreateApiKeyRequest, keyof Binding>): Binding {
  const { entityId, toolkitSlugs } = request;
  if (entityId !== "" && !isEntityId(entityId)) throw adminFaults.ENTITY_ID_INVALID(entityId);
  const classes = request.accessClasses.map((text, index) => readClass(text, index));
  if (toolkitSlugs.length > toolkitsMax) throw adminFaults.TOOLKIT_SLUGS_INVALID("has more than 100 slugs");
  for (const slug of toolkitSlugs) {
    if (!slugPattern.test(slug))
      throw adminFaults.TOOLKIT_SLUGS_INVALID(`contains ${JSON.stringify(slug.slice(0, 80))}, which is not a slug`);
  }
  return { entityId, accessClasses: [...new Set(classes)], toolkitSlugs: [...new Set(toolkitSlugs)] };
}

/**
 * Toolkit slugs that a key may be limited to although the catalog does not contain them: skills, a program's own HTTP requests, and the
 * project's own events.
 */
const slugsBesideCatalog: readonly string[] = [skillsToolkitSlug, "http", "events"];

/** Throws TOOLKIT_NOT_FOUND, with the nearest slug, for the first of `slugs` that the project does not see. */
export function requireToolkits({ toolkits }: Pick<Catalog, "toolkits">, slugs: readonly string[]): void {
  const wrong = slugs.findIndex((slug) => !toolkits.has(slug) && !slugsBesideCatalog.includes(slug));
  if (wrong >= 0) throw catalogFaults.TOOLKIT_NOT_FOUND(`toolkitSlugs[${wrong}]`, slugs[wrong] ?? "", { toolkits });
}

/**
 * Reads from the request which groups of svc's own tools for agents a new key may use, in addition to the tools of apps. Throws
 * AGENT_TOOLS_INVALID for an unknown group.
 */
export function readAgentTools(texts: readonly string[]): AgentToolGroup[] {
  const read = texts.map((text, index) => {
    const known = agentToolGroups.find((one) => one === text);
    if (known === undefined) throw adminFaults.AGENT_TOOLS_INVALID(index, text);
    return known;
  });
  return [...new Set(read)];
}

function readClass(text: string, index: number): StoredAccessClass {
  const known = accessClasses.find((one) => one === text);
  if (known === undefined) throw adminFaults.ACCESS_CLASS_INVALID(index, text);
  return known;
}
