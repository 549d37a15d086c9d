import { withTransaction } from "@svc/db/connect";
import { loadStandingVersions, lockStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import type { Drift } from "@svc/jobs";
import { checkDefinition } from "../definition/check.ts";
import { makeNextVersion } from "../programs/next-version.ts";
import { type LoadedVersion, openDefinition } from "../versions.ts";
import type { StandingContext } from "../context.ts";

/** What keeps a program from starting, since tools that it uses have changed; told at length. */
export type Drifted = { readonly version: number; readonly detail: string };

/** Characters of what is told of a drift. */
const detailMax = 8_000;

/**
 * Looks whether tools that a version uses have changed since it was pinned to them. A program that follows them, and has no faults by
 * that, is of another version from then on: `moved`. Anything else keeps it from starting.
 */
export async function lookAtDrift(
  context: StandingContext,
  program: StandingProgramRecord,
  version: LoadedVersion,
): Promise<"none" | "moved" | Drifted> {
  const { projectId } = program;
  const { record, definition } = version;
  const drift = await context.starter.driftOf(projectId, record.programDigest);
  if (drift.length === 0) return "none";
  const policy = definition.drift ?? (record.needsApproval ? "pause" : "follow");
  const told = driftText(drift);
  if (policy === "pause" || record.needsApproval) return { version: record.version, detail: told };
  const faults = await follow(context, program, { record, told });
  return faults === undefined ? "moved" : { version: record.version, detail: `${told}; ${faults}`.slice(0, detailMax) };
}

/** Makes a version that is pinned to what there is today; answers what is wrong with that, and makes none then. */
async function follow(
  context: StandingContext,
  { id, projectId, binding }: StandingProgramRecord,
  { record, told }: { readonly record: LoadedVersion["record"]; readonly told: string },
): Promise<string | undefined> {
  const { db, sealer, clock } = context;
  const { version, keyId, keyRole: role } = record;
  const [stored] = await loadStandingVersions(db, [{ programId: id, version }]);
  if (stored === undefined) throw new Error(`version ${version} of ${id} is not in the store`);
  const definitionJson = openDefinition(sealer, { programId: id, projectId, version }, stored.definition);
  const checked = await checkDefinition(context, {
    ...{ projectId, role, binding, definitionJson },
    nowMs: clock.now(),
    isStored: true,
  });
  if ("refusal" in checked) {
    const { message, details } = checked.refusal;
    return details.length === 0 ? message : details.map(({ field, help }) => `${field} ${help}`).join("; ");
  }
  if (checked.start.needsApproval) return "by what they are now, its plan needs approval";
  await withTransaction(db, async (tx) => {
    const [program] = await lockStandingPrograms(tx, [id]);
    // Somebody else was before.
    if (program?.version !== version || program.deletedAt !== null || program.state === "paused") return;
    const next = {
      program,
      definitionJson,
      checked,
      simulates: false,
      goesOn: true,
      note: `follows ${told}`.slice(0, detailMax),
    };
    await makeNextVersion(context, tx, { projectId, keyId, role }, next);
  });
  return undefined;
}

/** What has changed, such as `desk.get_item: inputSchema`. */
export function driftText(drift: readonly Drift[]): string {
  const byTool = Map.groupBy(drift, ({ toolSlug }) => toolSlug);
  return [...byTool]
    .map(
      ([slug, all]) =>
        `${slug}: ${all.map(({ what, before, after }) => `${what} ${before.slice(0, 200)} -> ${after.slice(0, 200)}`).join(", ")}`,
    )
    .join("; ")
    .slice(0, detailMax);
}
