import { defineFaults } from "../faults/define-faults.ts";
import { Fault, formatValue } from "../faults/errors.ts";
import { call, field, text, wait } from "../faults/fault-text.ts";
import type { AccountId } from "../ids/id.ts";

/** Effect of a tool on the data of its app: it reads, writes, or destroys data. The values go from the weakest effect to the strongest. */
type AccessClass = "read" | "write" | "destructive";

/**
 * Scope of a key within its project. The scope also applies to everything that the key starts. An empty part limits nothing. `entityId`:
 * the only entity (customer or user) whose accounts and rows the key can access. `accessClasses` and `toolkitSlugs`: the classes and
 * toolkits (apps) of the tools that the key may call.
 */
export type Binding = {
  readonly entityId: string;
  readonly accessClasses: readonly AccessClass[];
  readonly toolkitSlugs: readonly string[];
};

/**
 * Scope of a job (the limits of its access). It is the scope of the key that started the job. `accountId`: set if a person confirmed the
 * call that the job makes; the job may then use only this account.
 */
export type JobBinding = Binding & { readonly accountId?: AccountId };

/**
 * Returns the scope of a key (the limits of its access), made of its stored parts. Returns undefined if all parts are empty, so that the
 * key has no limits.
 */
export function bindingOf({ entityId, accessClasses, toolkitSlugs }: Binding): Binding | undefined {
  if (entityId === "" && accessClasses.length === 0 && toolkitSlugs.length === 0) return undefined;
  return { entityId, accessClasses, toolkitSlugs };
}

/**
 * True if a key with this scope may use tools of the toolkit (svc's definition of one app). False if the scope names other toolkits only.
 */
export function isToolkitGranted(binding: Binding | undefined, toolkitSlug: string): boolean {
  return binding === undefined || binding.toolkitSlugs.length === 0 || binding.toolkitSlugs.includes(toolkitSlug);
}

/** True if a key with this scope may use the tool. False if the scope excludes the tool's toolkit (app) or its class. */
export function isToolGranted(
  binding: Binding | undefined,
  tool: { readonly toolkitSlug: string; readonly class: AccessClass },
): boolean {
  if (binding === undefined) return true;
  const { accessClasses } = binding;
  const isClass = accessClasses.length === 0 || accessClasses.includes(tool.class);
  return isClass && isToolkitGranted(binding, tool.toolkitSlug);
}

/**
 * True if a key with this scope may access rows of the entity (a customer or user). A scope with an entity excludes rows of all other
 * entities, and rows without an entity.
 */
export function isEntityGranted(binding: Binding | undefined, entityId: string): boolean {
  return binding === undefined || binding.entityId === "" || binding.entityId === entityId;
}

/**
 * A row of a list, with the entity (customer or user) and the toolkit (app) that it concerns. `class`: the class of its tool, if the row
 * has one.
 */
type ScopedRow = {
  readonly entityId: string;
  readonly accessClass?: AccessClass;
  readonly toolSlug?: string;
  readonly toolkitSlug?: string;
};

/**
 * True if a caller with this scope may read the row (an account, an event or a call). False if its entity (customer or user), toolkit (app)
 * or tool class is outside the scope.
 */
export function isRowInScope(row: ScopedRow, binding: Binding | undefined): boolean {
  const { entityId, toolSlug = "", toolkitSlug = toolSlug.split(".")[0] ?? "", accessClass } = row;
  if (!isEntityGranted(binding, entityId)) return false;
  return accessClass === undefined
    ? isToolkitGranted(binding, toolkitSlug)
    : isToolGranted(binding, { toolkitSlug, class: accessClass });
}

/**
 * True if a job's or program's scope allows nothing that the scope `outer` does not allow. False if it allows more. A job or program has
 * the scope of the key that created it.
 */
export function isWithin(
  { binding: inner }: { readonly binding: Binding | null },
  outer: Binding | undefined,
): boolean {
  if (outer === undefined) return true;
  if (inner === null || !isEntityGranted(outer, inner.entityId)) return false;
  return isPart(inner.accessClasses, outer.accessClasses) && isPart(inner.toolkitSlugs, outer.toolkitSlugs);
}

function isPart(inner: readonly string[], outer: readonly string[]): boolean {
  return outer.length === 0 || (inner.length > 0 && inner.every((one) => outer.includes(one)));
}

/** Returns the scope of a key (the limits of its access) in words, such as "the entity ada and read tools of calendar". */
export function bindingText({ entityId, ...tools }: Binding): string {
  const isOfTools = tools.accessClasses.length > 0 || tools.toolkitSlugs.length > 0;
  const named = [
    ...(entityId === "" ? [] : [`the entity ${formatValue(entityId)}`]),
    ...(isOfTools ? [toolsText(tools)] : []),
  ];
  return named.join(" and ");
}

function toolsText({ accessClasses, toolkitSlugs }: Omit<Binding, "entityId">): string {
  const classes = accessClasses.length === 0 ? "" : `${accessClasses.join(", ")} `;
  return `${classes}tools${toolkitSlugs.length === 0 ? "" : ` of ${toolkitSlugs.join(", ")}`}`;
}

/** The properties of a tool that decide if a scope includes it. */
type GrantableTool = { readonly slug: string; readonly class: AccessClass };

/** Errors for calls that are outside the scope of a key (the limits of its access). */
export const bindingFaults = defineFaults({
  /** A scoped key made a call that needs access to the whole project. */
  CALL_NOT_FOR_BOUND: {
    code: "permission_denied",
    reason: "ENTITY_BOUND",
    says: (method: string, binding: Binding) =>
      text`${call(method)} uses the whole project, and this key is limited to ${bindingText(binding)}`,
    help: "Use a key of the whole project.",
  },
  /** The key of a portal link made a call that does not belong to the portal. */
  CALL_NOT_FOR_PORTAL: {
    code: "permission_denied",
    reason: "ENTITY_BOUND",
    says: (method: string, entityId: string) =>
      text`${call(method)} does not belong to the portal, and this key is limited to the portal of the entity ${formatValue(entityId)}`,
    help: "Use a key of the whole project.",
  },
  PORTAL_CALLS_TOO_MANY: {
    code: "resource_exhausted",
    says: (most: number, _retryAfterMs: number) =>
      `the portal's pages of this entity have made ${most} calls within a minute`,
    help: text`Try again ${wait}.`,
    retryAfterMs: (_most: number, retryAfterMs: number) => retryAfterMs,
  },
  PORTAL_READ_ONLY: {
    code: "permission_denied",
    says: (method: string) => text`${call(method)} changes or sends something, and this portal link may only read`,
    help: text`Ask for a link that ${call("CreatePortalLink")} made without ${field("readOnly")}.`,
  },
  /**
   * A key is limited to one entity (a customer or user), and the request named a different entity, or a row of one. `path`: the field of
   * the request.
   */
  ENTITY_BOUND: {
    code: "permission_denied",
    field: (path: string) => path,
    says: (path: string, what: string, binding: Binding) =>
      text`${field(path)} ${what}, and this key is limited to ${bindingText(binding)}`,
    help: (path: string) => text`Leave ${field(path)} out, or name what the key is limited to.`,
  },
  TOOL_NOT_GRANTED: {
    code: "permission_denied",
    field: (path: string) => path,
    says: (path: string, tool: GrantableTool, binding: Binding) =>
      text`${field(path)} ${tool.slug} is a ${tool.class} tool, and this key may use only ${toolsText(binding)}`,
    help: "Use one of those, or a key that was granted more.",
  },
});

/** Error for a tool call that is outside the key's scope. It contains the tool and the scope. */
export class ToolNotGranted extends Fault {
  readonly tool: GrantableTool;
  readonly binding: Binding;

  constructor(path: string, tool: GrantableTool, binding: Binding) {
    const { code, says, parted } = bindingFaults.TOOL_NOT_GRANTED(path, tool, binding);
    super(code, says, parted);
    this.tool = tool;
    this.binding = binding;
  }
}
