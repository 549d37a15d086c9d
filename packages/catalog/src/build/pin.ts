import type { AccountVariable, Action, Toolkit } from "../model.ts";
import type { AccessClass, JsonSchema } from "../read/documents.ts";
import { createTenantValidators, createValidator, withNulls } from "../schema/json-schema.ts";

/**
 * A toolkit's definition as it was at one time, with some of its actions: plain JSON, deployment values filled in. What only
 * connecting accounts, receiving events and polling need (webhook, triggers, forms of account variables, polls) is not kept.
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

/** Pins a toolkit with the actions named; the pin of equal definitions is equal. */
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
  // Fields that are undefined have no JSON form, and a pin equals what is read back of it.
  return JSON.parse(JSON.stringify(pinned)) as ToolkitPin;
}

/**
 * Makes a toolkit of a pin that calls can be made with. Its validators are compiled at their first use and, for a shared
 * toolkit, stay as long as the process: make it once for each pin.
 */
export function toolkitFromPin(pin: ToolkitPin): Toolkit {
  const validators = pin.ownerProjectId === "" ? createValidator : createTenantValidators();
  return {
    ...pin,
    identify: undefined,
    webhook: undefined,
    triggers: [],
    codeTools: [],
    // Values were checked when the account was connected.
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
