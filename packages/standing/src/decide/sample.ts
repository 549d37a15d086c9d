import type { JsonObject } from "@svc/core";
import type { LoadedVersion } from "../versions.ts";
import { givenOf } from "./given.ts";
import { inputOf } from "./input.ts";

/**
 * An example of the input that a definition makes: of its next time, else of now. Undefined for the program's own, also where none can
 * be made.
 */
export function sampleInput(
  version: Pick<LoadedVersion, "definition" | "program">,
  { nextAt, nowMs }: { readonly nextAt: number | null; readonly nowMs: number },
): JsonObject | undefined {
  const fire = { kind: "schedule", fireAt: nextAt ?? nowMs, missed: 0, previousAt: null } as const;
  const input = inputOf(version, givenOf(fire, version.definition.timeZone), undefined);
  return "fault" in input ? undefined : input.value;
}
