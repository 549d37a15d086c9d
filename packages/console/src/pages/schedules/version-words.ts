import type { StandingVersion } from "@svc/gen/standing";

type Hashes = Pick<StandingVersion, "programHash" | "definitionHash" | "note">;

/** Returns the differences between a version and the version before it, as far as hashes can show them. */
export function changedWords({ programHash, definitionHash, note }: Hashes, before: Hashes | undefined): string {
  if (note !== "") return "tools have changed";
  if (before === undefined) return "the first";
  if (programHash !== before.programHash) return "another program";
  return definitionHash === before.definitionHash
    ? "the same definition"
    : "the same program, started or bounded otherwise";
}
