import { createTenantValidators } from "@svc/catalog";
import { isObject, readJsonObject } from "@svc/core";
import { isStorable, readJson, unstorable } from "./read-json.ts";

/** What of a point decides whether overrides fit. */
export type OverridesRule = { readonly answerSchemaJson: string; readonly continuation: string };

/**
 * What is wrong with the overrides of an answer; undefined when nothing is, as with none. They come with `retry-with` alone, are an
 * object by the answer schema, and hold only texts that can be stored and sent on.
 */
export function faultOfOverrides(
  overridesJson: string,
  { answerSchemaJson, continuation }: OverridesRule,
): string | undefined {
  if (overridesJson === "") return undefined;
  const read = readJson(overridesJson);
  if (read === undefined) return "is not JSON";
  const { value } = read;
  if (continuation !== "retry-with") return `comes with ${continuation}, which takes no overrides`;
  if (answerSchemaJson === "") return "is given, but the point takes no overrides";
  if (!isObject(value)) return "is not an object";
  if (!isStorable(value)) return unstorable;
  const [fault] = createTenantValidators()(readJsonObject(answerSchemaJson, "the answer schema of a point"))(value);
  return fault && `breaks the point's answer schema: ${fault.pointer === "" ? "it" : fault.pointer} ${fault.message}`;
}
