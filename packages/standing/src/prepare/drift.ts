import type { StandingProgramId } from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { loadStandingVersions, lockStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import type { Drift } from "@svc/jobs";
import type { StandingContext } from "../context.ts";
import { checkDefinition } from "../definition/check.ts";
import { makeNextVersion } from "../programs/next-version.ts";
import { type LoadedVersion, openDefinition } from "../versions.ts";

/** A version of a schedule that cannot start because its tools have changed. `detail`: text for people. */
export type DriftHold = { readonly version: number; readonly detail: string };

/** Maximum characters of the text that says why a program cannot start after its tools have changed. */
const detailMax = 8_000;

/**
 * Finds standing programs (programs that start jobs on a schedule or event) whose tools have changed since the program's version was made.
 * If a definition says `follow`, its program gets a new version with the changed tools. A program that may no longer start, because of a
 * changed tool, is added to `drifts`. Returns the ids of the programs with a new version.
 */
export async function findDrifts(
  context: StandingContext,
  programs: readonly StandingProgramRecord[],
  drifts: Map<StandingProgramId, DriftHold>,
): Promise<StandingProgramId[]> {
  const names = programs.map(({ id: programId, projectId, version }) => ({ programId, projectId, version }));
  const versionOf = await context.versions.get(context.db, names);
  await context.starter.lookForDrift(
    names.map((name) => ({ projectId: name.projectId, digest: versionOf(name).record.programDigest })),
  );
  const moved: StandingProgramId[] = [];
  for (const [index, program] of programs.entries()) {
    const name = names[index];
    if (name === undefined || (program.state !== "active" && program.state !== "ended")) continue;
    const found = await findDrift(context, program, versionOf(name));
    if (found === "moved") moved.push(program.id);
    else if (found !== "none") drifts.set(program.id, found);
  }
  return moved;
}

/**
 * Checks if the tools of a schedule's version have changed since the version was made. Returns "none" if no tool has changed. Returns
 * "moved" if the schedule accepts changed tools (policy `follow`) and got a new version. Otherwise returns why the version cannot start.
 */
export async function findDrift(
  context: StandingContext,
  program: StandingProgramRecord,
  version: LoadedVersion,
): Promise<"none" | "moved" | DriftHold> {
  const { projectId } = program;
  const { record, definition } = version;
  const drift = await context.starter.driftOf(projectId, record.programDigest);
  if (drift.length === 0) return "none";
  const policy = definition.drift ?? (record.needsApproval ? "pause" : "follow");
  const text = driftText(drift);
  if (policy === "pause" || record.needsApproval) return { version: record.version, detail: text };
  const faults = await follow(context, program, { record, text });
  return faults === undefined ? "moved" : { version: record.version, detail: `${text}; ${faults}`.slice(0, detailMax) };
}

/**
 * Creates a new version of a standing program (which starts jobs on a schedule or event) with the current definitions of its tools, and
 * returns undefined. If the program has faults with these definitions or needs approval, creates no version and returns the reason.
 */
async function follow(
  context: StandingContext,
  { id, projectId, binding }: StandingProgramRecord,
  { record, text }: { readonly record: LoadedVersion["record"]; readonly text: string },
): Promise<string | undefined> {
  const { db, sealer, clock } = context;
  const { version, keyId, keyRole: role } = record;
  const [stored] = await loadStandingVersions(db, [{ programId: id, version }]);
  if (stored === undefined) throw new Error(`version ${version} of ${id} is missing in the database`);
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
  if (checked.start.needsApproval) return "with the current tools, its plan needs approval";
  await withTransaction(db, async (tx) => {
    const [program] = await lockStandingPrograms(tx, [id]);
    // Another transaction has changed, deleted or paused the program since it was read. So this transaction makes no new version.
    if (program?.version !== version || program.deletedAt !== null || program.state === "paused") return;
    const next = {
      program,
      definitionJson,
      checked,
      simulates: false,
      goesOn: true,
      note: `follows ${text}`.slice(0, detailMax),
    };
    await makeNextVersion(context, tx, { projectId, keyId, role }, next);
  });
  return undefined;
}

/** Describes the changes of tools, such as `desk.get_item: inputSchema`. */
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
