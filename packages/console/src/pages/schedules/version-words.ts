import type { StandingVersion } from "@svc/gen/standing";

type Hashes = Pick<StandingVersion, "programHash" | "definitionHash" | "note">;

/**
 * Returns in words what changed between a version of a schedule and the version before it. The function compares only hashes of the program
 * and of the definition. So the words name the changed part, and not the change itself.
 */
export function changedWords({ programHash, definitionHash, note }: Hashes, before: Hashes | undefined): string {
  if (note !== "") return "tools have changed";
  if (before === undefined) return "the first";
  if (programHash !== before.programHash) return "another program";
  return definitionHash === before.definitionHash ? "same definition" : "same program, other start or limits";
}
