import type { Tool } from "@svc/catalog";
import { type Binding, bindingFaults, type Fault, formatValue, isToolGranted, ToolNotGranted } from "@svc/core";
import type { Caller } from "../call-request.ts";
import type { SecretUse } from "../prepare/secret-uses.ts";

/** What a bound caller meets that reaches beyond its binding: ENTITY_BOUND or TOOL_NOT_GRANTED. Nothing was sent, or recorded. */
export type BoundRefusal = { readonly outcome: "refused"; readonly refusal: Fault };

/** What of a call its caller's binding is about. */
type Bindable = {
  readonly caller: Caller;
  readonly entityId: string;
  readonly secretUses?: readonly SecretUse[] | undefined;
};

/** A call as its caller's binding leaves it, or why it is none. Accounts are those of the bound entity, whichever is named. */
export function bindCall<Request extends Bindable>(asked: Request): Request | BoundRefusal {
  const { binding } = asked.caller;
  if (binding === undefined || binding.entityId === "") return asked;
  const { entityId, secretUses = [] } = asked;
  // Exactly the same text: whatever else reads alike is another entity.
  if (entityId !== "" && entityId !== binding.entityId) {
    return {
      outcome: "refused",
      refusal: bindingFaults.ENTITY_BOUND("entityId", `is ${formatValue(entityId)}`, binding),
    };
  }
  if (secretUses.length > 0) {
    const refusal = bindingFaults.ENTITY_BOUND(
      "argumentsJson",
      "names a secret of the project, which is no entity's",
      binding,
    );
    return { outcome: "refused", refusal };
  }
  return { ...asked, entityId: binding.entityId };
}

/** Why a bound caller may not call a tool; undefined where it may. */
export function refusalOfTool(
  binding: Binding | undefined,
  tool: Pick<Tool, "slug" | "toolkitSlug" | "class">,
): BoundRefusal | undefined {
  if (binding === undefined || isToolGranted(binding, tool)) return undefined;
  return { outcome: "refused", refusal: new ToolNotGranted("toolSlug", tool, binding) };
}
