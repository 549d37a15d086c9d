import { readJsonObject } from "@svc/core";
import type { OverrideTarget } from "@svc/program";
import type { Edit } from "../state/change.ts";

/** Maximum number of names of changed params or arguments that a log entry about a person's answer lists. */
const namesMax = 50;

/**
 * Returns the changes to job state (edits) for a `retry-with` answer, with which a person changes params or the arguments of one step. The
 * new values were checked when the person answered.
 */
export function overrideEdits(
  stepId: string,
  target: OverrideTarget | undefined,
  overridesJson: string,
  chain: readonly string[],
): Edit[] {
  if (target === undefined || overridesJson === "") return [];
  const overrides = readJsonObject(overridesJson, "an answer's overrides");
  const names = Object.keys(overrides);
  if (names.length === 0) return [];
  const changed: Edit =
    target.kind === "params"
      ? { kind: "params", params: overrides }
      : { kind: "stepArgs", stepId: target.step, args: overrides };
  const payload = {
    target: target.kind,
    ...(target.kind === "args" && { step: target.step }),
    names: names.slice(0, namesMax),
  };
  return [changed, { kind: "note", note: { type: "overrides-applied", stepId, payload, chain } }];
}
