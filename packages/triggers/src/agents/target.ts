import type { CatalogView, Trigger } from "@svc/catalog";
import { isEntityId, isObject, isToolGranted, type ProjectId } from "@svc/core";
import { invalidParams, type McpContext, type McpError, type Params } from "@svc/tools";
import type { CursorScope } from "../polls/position.ts";
import { eventNotFound, forbidden } from "./errors.ts";

/**
 * The events of a request: those of one trigger and one entity (customer or user). If the entity is empty, those of all entities in the
 * caller's scope.
 */
export type EventTarget = {
  readonly trigger: Trigger;
  readonly entityId: string;
  /** The arguments in a canonical form, so that equal arguments have equal texts. */
  readonly argumentsText: string;
};

type Caller = Pick<McpContext, "principal" | "address">;

/**
 * True if the caller can get events of this trigger. The caller's key or grant (a person's permission for an agent) must permit it. If the
 * caller's MCP address names toolkits or tools, it must name the trigger or its toolkit.
 */
export function isOffered({ slug, toolkitSlug }: Trigger, caller: Caller): boolean {
  return isOfAddress({ slug, toolkitSlug }, caller) && isReadable(toolkitSlug, caller);
}

function isOfAddress({ slug, toolkitSlug }: Pick<Trigger, "slug" | "toolkitSlug">, { address }: Caller): boolean {
  const { toolkits, tools } = address;
  return toolkits.length + tools.length === 0 || toolkits.includes(toolkitSlug) || tools.includes(slug);
}

/** True if the caller may read events of a toolkit (app). Every event counts as a read. */
function isReadable(toolkitSlug: string, { principal }: Caller): boolean {
  return isToolGranted(principal.binding, { toolkitSlug, class: "read" });
}

/** Returns the events that a client requests by the parameters `name` and `arguments`, or the reason why it cannot get them. */
export function readTarget(
  { triggers }: Pick<CatalogView, "triggers">,
  params: Params,
  caller: Caller,
): EventTarget | { readonly error: McpError } {
  const { name, arguments: given = {} } = params;
  if (typeof name !== "string") return wrong("params.name must be the name of an event");
  const trigger = triggers.get(name);
  if (trigger === undefined || !isOfAddress(trigger, caller)) return { error: eventNotFound(name) };
  if (!isReadable(trigger.toolkitSlug, caller)) return { error: forbidden(`${name} is not granted`) };
  if (!isObject(given)) return wrong("params.arguments must be an object");
  const unknown = Object.keys(given).find((key) => key !== "entity_id");
  if (unknown !== undefined)
    return wrong(`params.arguments has ${unknown.slice(0, 80)}; an event takes entity_id alone`);
  const { entity_id: asked } = given;
  if (asked !== undefined && (typeof asked !== "string" || asked === "" || !isEntityId(asked)))
    return wrong("params.arguments.entity_id must be the id of an entity");
  const own = caller.principal.binding?.entityId ?? "";
  const named = asked ?? caller.address.entityId;
  if (own !== "" && named !== "" && named !== own)
    return { error: forbidden("events of another entity are not granted") };
  const argumentsText = JSON.stringify(asked === undefined ? {} : { entity_id: asked });
  return { trigger, entityId: own === "" ? named : own, argumentsText };
}

/**
 * Returns the filter of events for a request (trigger, entity and project). A cursor (point in the event stream) is valid only for the same
 * filter.
 */
export function scopeOf(
  { trigger, entityId }: Pick<EventTarget, "trigger" | "entityId">,
  projectId: ProjectId,
): CursorScope {
  return { projectId, events: { toolkitSlug: "", triggerSlugs: [trigger.slug], entityId, readableToolkits: [] } };
}

function wrong(what: string): { readonly error: McpError } {
  return { error: invalidParams(`InvalidParams: ${what}`) };
}
