import type { AccountVariable, Action, Toolkit } from "../model.ts";
import type { AccessClass, JsonSchema } from "../read/documents.ts";
import { createTenantValidators, createValidator, withNulls } from "../schema/json-schema.ts";

/**
 * Snapshot of the definition of a toolkit (one app's tools) with some of its actions (tools), as plain JSON with deployment values filled
 * in. It is stored with a program. It omits what calls do not need: the webhook, triggers, polls, and the rules for checking account
 * variables.
 */
export type ToolkitPin = Omit<
  Toolkit,
  "account" | "webhook" | "questions" | "actions" | "triggers" | "sayings" | "codeTools" | "identify"
> & {
  readonly account: readonly Omit<AccountVariable, "accepts">[];
  readonly actions: readonly ActionPin[];
};

type ActionPin = Omit<
  Action,
  "validateInput" | "validateOutput" | "poll" | "phrases" | "class" | "inputSchema" | "outputSchema"
> & {
  readonly class: AccessClass;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
};

/** Returns the snapshot ("pin") of a toolkit (one app's tools) with the named actions. Equal definitions give equal snapshots. */
export function pinToolkit(toolkit: Toolkit, names: ReadonlySet<string>): ToolkitPin {
  const {
    webhook: _webhook,
    questions: _questions,
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
      .map(({ validateInput: _in, validateOutput: _out, poll: _poll, phrases: _phrases, ...action }) => action),
  };
  // JSON omits undefined fields, and a new snapshot must be equal to a stored one.
  return JSON.parse(JSON.stringify(pinned)) as ToolkitPin;
}

/**
 * Returns a toolkit (one app's tools) for calls, created from its snapshot. Its validators are compiled at their first use. For a shared
 * toolkit they stay in memory until the process ends, so create the toolkit once per snapshot.
 */
export function toolkitFromPin(pin: ToolkitPin): Toolkit {
  const validators = pin.ownerProjectId === "" ? createValidator : createTenantValidators();
  return {
    ...pin,
    identify: undefined,
    webhook: undefined,
    triggers: [],
    codeTools: [],
    // The values of the account's variables were checked when the account was connected, so every value is accepted here.
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
