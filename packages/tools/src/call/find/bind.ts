import type { Tool } from "@svc/catalog";
import { type Binding, bindingFaults, type Fault, formatValue, isToolGranted, ToolNotGranted } from "@svc/core";
import type { Caller } from "../call-request.ts";
import type { SecretUse } from "../prepare/secret-uses.ts";

/** The reply to a call outside the caller's scope: ENTITY_BOUND or TOOL_NOT_GRANTED. Nothing was sent or recorded. */
export type BoundRefusal = { readonly outcome: "refused"; readonly refusal: Fault };

/** Parts of a call that the caller's scope restricts. */
type Bindable = {
  readonly caller: Caller;
  readonly entityId: string;
  readonly secretUses?: readonly SecretUse[] | undefined;
};

/**
 * Returns a call restricted to the scope of the caller's key, or the reason why the call is refused. If the scope has an entity (a customer
 * or user), the call uses only accounts of this entity.
 */
export function bindCall<Request extends Bindable>(asked: Request): Request | BoundRefusal {
  const { binding } = asked.caller;
  if (binding === undefined || binding.entityId === "") return asked;
  const { entityId, secretUses = [] } = asked;
  // Ids are compared exactly. An id that differs only in case or spaces belongs to another entity.
  if (entityId !== "" && entityId !== binding.entityId) {
    return {
      outcome: "refused",
      refusal: bindingFaults.ENTITY_BOUND("entityId", `is ${formatValue(entityId)}`, binding),
    };
  }
  if (secretUses.length > 0) {
    const refusal = bindingFaults.ENTITY_BOUND(
      "argumentsJson",
      "names a secret of the project, which belongs to no entity",
      binding,
    );
    return { outcome: "refused", refusal };
  }
  return { ...asked, entityId: binding.entityId };
}

/**
 * Returns the reason why a scoped key (a key limited to some toolkits (apps) or access classes) may not call a tool. Returns undefined if
 * it may call the tool.
 */
export function refusalOfTool(
  binding: Binding | undefined,
  tool: Pick<Tool, "slug" | "toolkitSlug" | "class">,
): BoundRefusal | undefined {
  if (binding === undefined || isToolGranted(binding, tool)) return undefined;
  return { outcome: "refused", refusal: new ToolNotGranted("toolSlug", tool, binding) };
}
