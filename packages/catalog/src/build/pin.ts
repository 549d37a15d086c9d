import type { AccountVariable, Action, Toolkit } from "../model.ts";
import type { AccessClass, JsonSchema } from "../read/documents.ts";
import { createTenantValidators, createValidator, withNulls } from "../schema/json-schema.ts";

/**
 * Snapshot of a toolkit's definition with some of its actions, as plain JSON with deployment values filled in. It omits the parts that only
 * connecting, receiving events and polling need (webhook, triggers, forms of account variables, polls).
 */
export type ToolkitPin = Omit<
  Toolkit,
  "account" | "webhook" | "actions" | "triggers" | "sayings" | "codeTools" | "identify"
> & {
  readonly account: readonly Omit<AccountVariable, "accepts">[];
  readonly actions: readonly ActionPin[];
};

type ActionPin = Omit<
  Action,
  "validateInput" | "validateOutput" | "poll" | "class" | "inputSchema" | "outputSchema"
> & {
  readonly class: AccessClass;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
};

/** Returns the pin of a toolkit with the named actions. Equal definitions have equal pins. */
export function pinToolkit(toolkit: Toolkit, names: ReadonlySet<string>): ToolkitPin {
  const {
    webhook: _webhook,
    triggers: _triggers,
    sayings: _sayings,
    codeTools: _code,
    identify: _identify,
    account,
    actions,
    ...kept
  } = toolkit;
  const pinned = {
    ...kept,
    account: account.map(({ accepts: _accepts, ...variable }) => variable),
    actions: actions
      .filter(({ name }) => names.has(name))
      .map(({ validateInput: _in, validateOutput: _out, poll: _poll, ...action }) => action),
  };
  // Undefined fields have no JSON form, and a pin must equal its stored form.
  return JSON.parse(JSON.stringify(pinned)) as ToolkitPin;
}

/**
 * Creates a toolkit from a pin, for calls. Its validators are compiled at their first use and, for a shared toolkit, stay until the process
 * ends: create it once per pin.
 */
export function toolkitFromPin(pin: ToolkitPin): Toolkit {
  const validators = pin.ownerProjectId === "" ? createValidator : createTenantValidators();
  return {
    ...pin,
    identify: undefined,
    webhook: undefined,
    triggers: [],
    codeTools: [],
    // The values were checked when the account was connected.
    account: pin.account.map((variable) => ({ ...variable, accepts: () => true })),
    actions: pin.actions.map((action) => ({
      ...action,
      idempotency: action.idempotency,
      request: { ...action.request, body: action.request.body },
      response: { ...action.response, empty: action.response.empty, error: action.response.error },
      validateInput: validators(action.inputSchema),
      validateOutput: validators(withNulls(action.outputSchema)),
    })),
  };
}
