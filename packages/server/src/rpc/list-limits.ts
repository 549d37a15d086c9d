import { type DescMethod, type DescService, getOption, type Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type Binding, bindingOf, bindingText, principalContext } from "@svc/core";
import { BoundKey, bound_key, ListLimit, list_limits, portal } from "@svc/gen/options";

type Method = (request: Message, context: HandlerContext) => unknown;

const limits = [ListLimit.ENTITY, ListLimit.ACCESS_CLASS, ListLimit.TOOLKIT, ListLimit.OFFERED] as const;

/**
 * Returns a copy of a service in which answers with lists have the field `limitedTo`. The field says to which rows the list was limited for
 * a scoped key. Throws an Error if a list call of svc.v1 does not declare its limits (`list_limits`).
 */
export function sayListLimits<Implementation extends object>(
  service: DescService,
  implementation: Implementation,
): Implementation {
  if (!service.typeName.startsWith("svc.v1.")) return implementation;
  const saying: Implementation = Object.create(implementation);
  for (const desc of service.methods) {
    const declared = readListLimits(desc);
    const method: unknown = Reflect.get(implementation, desc.localName);
    if (declared.size === 0 || typeof method !== "function") continue;
    Reflect.set(saying, desc.localName, limited(declared, method.bind(implementation) as Method));
  }
  return saying;
}

/**
 * Returns which limits of a scoped key hide rows in a list call, for example its toolkits. Empty if the call never hides rows. Throws an
 * Error if the call's option `list_limits` is missing or wrong.
 */
export function readListLimits(desc: DescMethod): ReadonlySet<ListLimit> {
  const declared = new Set(getOption(desc, list_limits));
  const name = `${desc.parent.typeName}/${desc.name}`;
  const isForScoped = getOption(desc, bound_key) === BoundKey.NARROWED || getOption(desc, portal);
  const isNarrowed = /^(?:List|Poll|Search)[A-Z]/.test(desc.name) && isForScoped;
  if (isNarrowed !== declared.size > 0) {
    throw new Error(
      `${name} declares ${isNarrowed ? "no list_limits" : "list_limits and is not a list for scoped keys"}`,
    );
  }
  const found = new Set(limits.filter((limit) => declared.has(limit)));
  const isSaid = desc.output.fields.some((field) => field.name === "limited_to");
  const isConsistent = found.size === 0 ? !isNarrowed || declared.has(ListLimit.NONE) : declared.size === found.size;
  if (!isConsistent || isSaid !== found.size > 0) {
    throw new Error(`${name} declares list_limits that its limited_to does not have`);
  }
  return found;
}

function limited(declared: ReadonlySet<ListLimit>, method: Method): Method {
  return async (request, context) => {
    const answer = (await method(request, context)) as Message;
    const principal = context.values.get(principalContext);
    const binding = principal?.kind === "project" ? principal.binding : undefined;
    const limitedTo = binding === undefined ? "" : limitText(declared, binding);
    // The answer is copied and not changed, because several callers may share the message.
    return limitedTo === "" ? answer : { ...answer, limitedTo };
  };
}

/** Returns a text that says which rows of a list a scoped key may read; empty if it may read all rows. */
function limitText(declared: ReadonlySet<ListLimit>, { entityId, accessClasses, toolkitSlugs }: Binding): string {
  const part = bindingOf({
    entityId: declared.has(ListLimit.ENTITY) ? entityId : "",
    accessClasses: declared.has(ListLimit.ACCESS_CLASS) ? accessClasses : [],
    toolkitSlugs: declared.has(ListLimit.TOOLKIT) ? toolkitSlugs : [],
  });
  if (declared.has(ListLimit.OFFERED)) return "event types that the project offers";
  return part === undefined ? "" : bindingText(part);
}
