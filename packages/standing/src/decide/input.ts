import { createTenantValidators, fitInput } from "@svc/catalog";
import { isJsonObject, type JsonObject } from "@svc/core";
import { fillGiven } from "@svc/program";
import type { Given } from "../definition/definition.ts";
import type { LoadedVersion } from "../versions.ts";

/**
 * The input of a run's job: what a caller gave, else what the definition makes of `given`; undefined for the program's own. A fault
 * where it is not what the program takes.
 */
export function inputOf(
  { definition, program }: Pick<LoadedVersion, "definition" | "program">,
  given: Given,
  called: JsonObject | undefined,
): { readonly value: JsonObject | undefined } | { readonly fault: string } {
  if (called === undefined && definition.input === undefined) return { value: undefined };
  const filled =
    called === undefined && definition.input ? fillGiven(definition.input, given) : { value: called ?? {} };
  if ("fault" in filled) return { fault: `input: ${filled.fault.message}` };
  if (!isJsonObject(filled.value)) return { fault: "input is no object" };
  const { inputSchema } = program;
  if (inputSchema === undefined) return { fault: "the program declares no inputSchema" };
  const { value, faults } = fitInput(inputSchema, createTenantValidators()(inputSchema), filled.value);
  const [first] = faults;
  return first === undefined ? { value: value as JsonObject } : { fault: `input${first.pointer} ${first.message}` };
}
