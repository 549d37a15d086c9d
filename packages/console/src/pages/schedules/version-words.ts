import type { StandingVersion } from "@svc/gen/standing";

type Hashes = Pick<StandingVersion, "programHash" | "definitionHash" | "note">;

/**
 * Returns in words what changed between a version and the version before it. It only compares hashes, so it names the changed parts, not
 * the changes.
 */
export function changedWords({ programHash, definitionHash, note }: Hashes, before: Hashes | undefined): string {
  if (note !== "") return "tools have changed";
  if (before === undefined) return "the first";
  if (programHash !== before.programHash) return "another program";
  return definitionHash === before.definitionHash
    ? "the same definition"
    : "the same program, started or bounded otherwise";
}
