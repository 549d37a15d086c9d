import { defineFaults } from "../faults/define-faults.ts";
import { Fault, formatValue } from "../faults/errors.ts";
import { call, field, text } from "../faults/fault-text.ts";
import type { AccountId } from "../ids/id.ts";

/** What a tool does to the data of its app, the least first. */
type AccessClass = "read" | "write" | "destructive";

/**
 * What a key, and whatever it began, may reach of its project. A part that is empty bounds nothing: `entityId` is the one entity whose
 * accounts and rows it reaches, `accessClasses` and `toolkitSlugs` the tools that it may call.
 */
export type Binding = {
  readonly entityId: string;
  readonly accessClasses: readonly AccessClass[];
  readonly toolkitSlugs: readonly string[];
};

/** What a job may reach: what whoever began it may, and, of a call that a person was asked about, no other account than that one. */
export type JobBinding = Binding & { readonly accountId?: AccountId };

/** The binding that stored parts make; undefined where none of them bounds anything. */
export function bindingOf({ entityId, accessClasses, toolkitSlugs }: Binding): Binding | undefined {
  if (entityId === "" && accessClasses.length === 0 && toolkitSlugs.length === 0) return undefined;
  return { entityId, accessClasses, toolkitSlugs };
}

/** Whether whoever is bound so may use tools of a toolkit. */
export function isToolkitGranted(binding: Binding | undefined, toolkitSlug: string): boolean {
  return binding === undefined || binding.toolkitSlugs.length === 0 || binding.toolkitSlugs.includes(toolkitSlug);
}

/** Whether whoever is bound so may use a tool. */
export function isToolGranted(
  binding: Binding | undefined,
  tool: { readonly toolkitSlug: string; readonly class: AccessClass },
): boolean {
  if (binding === undefined) return true;
  const { accessClasses } = binding;
  const isClass = accessClasses.length === 0 || accessClasses.includes(tool.class);
  return isClass && isToolkitGranted(binding, tool.toolkitSlug);
}

/** Whether whoever is bound so reaches what is an entity's; what is nobody's is reached by those alone whom no entity bounds. */
export function isEntityGranted(binding: Binding | undefined, entityId: string): boolean {
  return binding === undefined || binding.entityId === "" || binding.entityId === entityId;
}

/** Row of an entity and of the toolkit of its tool, of a class if it has one. */
type ScopedRow = {
  readonly entityId: string;
  readonly accessClass?: AccessClass;
  readonly toolSlug?: string;
  readonly toolkitSlug?: string;
};

/** True if a caller that is bound so may read the row: accounts, events, calls. */
export function isRowInScope(row: ScopedRow, binding: Binding | undefined): boolean {
  const { entityId, toolSlug = "", toolkitSlug = toolSlug.split(".")[0] ?? "", accessClass } = row;
  if (!isEntityGranted(binding, entityId)) return false;
  return accessClass === undefined
    ? isToolkitGranted(binding, toolkitSlug)
    : isToolGranted(binding, { toolkitSlug, class: accessClass });
}

/** True if a job or a program, which keeps its maker's binding, reaches nothing that `outer` does not. */
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

/** A binding in words, such as "the entity ada and read tools of calendar". */
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

/** A tool as bindings see it. */
type GrantableTool = { readonly slug: string; readonly class: AccessClass };

/** Refusals of bound keys. */
export const bindingFaults = defineFaults({
  /** A bound key makes a call that is not for one. */
  CALL_NOT_FOR_BOUND: {
    code: "permission_denied",
    reason: "ENTITY_BOUND",
    says: (method: string, binding: Binding) =>
      text`${call(method)} reaches the whole project, and this key is bound to ${bindingText(binding)}`,
    help: "Use a key of the project that is bound to nothing.",
  },
  /** A bound key names, in `path`, an entity or what is not its entity's. */
  ENTITY_BOUND: {
    code: "permission_denied",
    field: (path: string) => path,
    says: (path: string, what: string, binding: Binding) =>
      text`${field(path)} ${what}, and this key is bound to ${bindingText(binding)}`,
    help: (path: string) => text`Leave ${field(path)} out, or name what the key is bound to.`,
  },
  TOOL_NOT_GRANTED: {
    code: "permission_denied",
    field: (path: string) => path,
    says: (path: string, tool: GrantableTool, binding: Binding) =>
      text`${field(path)} ${tool.slug} is a ${tool.class} tool, and this key may use ${toolsText(binding)} alone`,
    help: "Use one of those, or a key that was granted more.",
  },
});

/** A refusal that says which tool a bound key was not granted, and what it was. */
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
