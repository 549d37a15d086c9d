import type { AppliedOverrides } from "../program/overrides.ts";
import { argumentsWith } from "../program/overrides.ts";
import type { CallStep, JsonObject } from "../program/program.ts";
import { type RunScope, resolveArguments } from "../program/resolve.ts";
import type { CallFault } from "./invoke.ts";

/** Fills in the arguments of a call, with what answers put in their place, or says why they cannot be. */
export function fillCall(
  call: Pick<CallStep, "id" | "args">,
  scope: RunScope,
  stepArgs: Readonly<Record<string, unknown>>,
): { readonly args: JsonObject } | { readonly fault: CallFault } {
  const template = argumentsWith(call, { params: {}, args: stepArgs as AppliedOverrides["args"] });
  const resolved = resolveArguments(template, scope);
  if ("value" in resolved) return { args: resolved.value };
  const { code, message } = resolved.fault;
  return { fault: { code, message, plain: message } };
}

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
