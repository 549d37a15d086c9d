import { createId, type ProjectPrincipal, type StandingProgramId } from "@svc/core";
import {
  addStandingVersion,
  clearDueTasks,
  type Executor,
  isUniqueViolation,
  loadStandingVersions,
  lockStandingPrograms,
  putDueTasks,
  type StandingProgramRecord,
  standingProgramsForProject,
  withTransaction,
} from "@svc/db";
import { type CheckedDefinition, checkDefinition, hashOfDefinition } from "../definition/check.ts";
import type { Source } from "../definition/definition.ts";
import type { StandingContext } from "../engine/context.ts";
import {
  standingProgramNotFound,
  standingProgramsTooMany,
  standingSlugInvalid,
  standingSlugTaken,
  standingVersionStale,
} from "../errors.ts";
import { fireTimeOf, firstOfSource, isOver, taskKindOf } from "../schedule/due.ts";
import { sealDefinition } from "../versions.ts";
import { listen, stopListening } from "./listen.ts";

const slugPattern = /^[a-z][a-z0-9_-]{0,62}$/;

/** What a program is made of. */
export type NewProgram = { readonly slug: string; readonly definitionJson: string; readonly isPaused: boolean };

/** Makes a program stand, or finds the one of the same slug and definition. Throws the refusals of CreateStandingProgram. */
export async function createProgram(
  context: StandingContext,
  principal: ProjectPrincipal,
  { slug, definitionJson, isPaused }: NewProgram,
): Promise<StandingProgramId> {
  const { db, clock, limits } = context;
  const { projectId, role } = principal;
  if (!slugPattern.test(slug)) throw standingSlugInvalid(slug);
  const hash = await hashOfDefinition(definitionJson);
  const earlier = await findSame(db, principal, slug, hash);
  // Before anything is checked: it is answered, whatever became of tools, accounts and contacts since.
  if (earlier !== undefined) return earlier;
  const checked = await checkDefinition(context, { projectId, role, definitionJson, nowMs: clock.now() });
  if ("refusal" in checked) throw checked.refusal;
  const programs = standingProgramsForProject(db, projectId);
  if ((await programs.count()) >= limits.programsMax) throw standingProgramsTooMany(limits.programsMax);
  const nowMs = clock.now();
  const id = createId("stp", nowMs);
  const { source } = checked.definition;
  const nextAt = firstOfSource(source, nowMs);
  try {
    await withTransaction(db, async (tx) => {
      await standingProgramsForProject(tx, projectId).add({
        id,
        slug,
        title: titleOf(checked),
        state: isPaused ? "paused" : isOver(source, nextAt) ? "ended" : "active",
        pauseReason: isPaused ? "requested" : "",
        version: 1,
        sourceKind: source.kind,
        nextAt,
        createdAt: nowMs,
        updatedAt: nowMs,
      });
      await addVersion(context, tx, principal, { id, version: 1, definitionJson, checked, nowMs });
      if (!isPaused) await arm(tx, { id, projectId, version: 1 }, nextAt, source);
    });
  } catch (error) {
    if (!isUniqueViolation(error, "standing_programs_slug")) throw error;
    const other = await findSame(db, principal, slug, hash);
    if (other === undefined) throw standingSlugTaken(slug);
    return other;
  }
  return id;
}

/** The program of a slug where its definition is the same. Throws STANDING_SLUG_TAKEN where it is another. */
async function findSame(
  db: Executor,
  { projectId }: ProjectPrincipal,
  slug: string,
  hash: string | undefined,
): Promise<StandingProgramId | undefined> {
  const found = await standingProgramsForProject(db, projectId).findBySlug(slug);
  if (found === undefined) return undefined;
  const [version] = await loadStandingVersions(db, [{ programId: found.id, version: found.version }]);
  if (version?.definitionHash !== hash) throw standingSlugTaken(slug);
  return found.id;
}

/** What a program is changed to. */
export type ProgramUpdate = {
  readonly program: StandingProgramRecord;
  readonly definitionJson: string;
  /** 0: whichever is there. */
  readonly expectedVersion: number;
};

/** Makes the next version of a program. Throws the refusals of UpdateStandingProgram. */
export async function updateProgram(
  context: StandingContext,
  principal: ProjectPrincipal,
  { program: { id }, definitionJson, expectedVersion }: ProgramUpdate,
): Promise<void> {
  const { db, clock } = context;
  const { projectId, role, keyId } = principal;
  const checked = await checkDefinition(context, { projectId, role, definitionJson, nowMs: clock.now() });
  if ("refusal" in checked) throw checked.refusal;
  await withTransaction(db, async (tx) => {
    const nowMs = clock.now();
    const [program] = await lockStandingPrograms(tx, [id]);
    if (program === undefined || program.deletedAt !== null) throw standingProgramNotFound("id", id);
    if (expectedVersion !== 0 && expectedVersion !== program.version) {
      throw standingVersionStale(expectedVersion, program.version);
    }
    const [today] = await loadStandingVersions(tx, [{ programId: id, version: program.version }]);
    if (
      today?.definitionHash === checked.hash &&
      today.keyId === keyId &&
      today.needsApproval === checked.start.needsApproval
    )
      return;
    const version = program.version + 1;
    const { source } = checked.definition;
    const nextAt = firstOfSource(source, nowMs);
    const isAdopted = program.pauseReason === "key_revoked" || program.pauseReason === "approval";
    const isPaused = program.state === "paused" && !isAdopted;
    await addVersion(context, tx, principal, { id, version, definitionJson, checked, nowMs });
    await standingProgramsForProject(tx, projectId).change(id, {
      version,
      title: titleOf(checked),
      sourceKind: source.kind,
      state: isPaused ? "paused" : isOver(source, nextAt) ? "ended" : "active",
      ...(isAdopted && { pauseReason: "", pauseDetail: "", failuresInRow: 0 }),
      nextAt,
      updatedAt: nowMs,
    });
    await clearDueTasks(tx, id, ["fire", "poll"]);
    if (program.state !== "paused") await stopListening(tx, program, { reason: "updated", nowMs });
    if (!isPaused) await arm(tx, { ...program, version }, nextAt, source);
  });
}

function titleOf({ definition, start }: CheckedDefinition): string {
  return definition.title || start.program.title;
}

type VersionParts = {
  readonly id: StandingProgramId;
  readonly version: number;
  readonly definitionJson: string;
  readonly checked: CheckedDefinition;
  readonly nowMs: number;
};

async function addVersion(
  { starter, sealer }: StandingContext,
  tx: Executor,
  { projectId, keyId, role }: ProjectPrincipal,
  { id: programId, version, definitionJson, checked: { start, hash }, nowMs }: VersionParts,
): Promise<void> {
  await addStandingVersion(tx, {
    programId,
    version,
    definition: sealDefinition(sealer, { projectId, programId, version }, definitionJson),
    definitionHash: hash,
    programHash: start.programHash,
    programDigest: await starter.keep(tx, projectId, start),
    estimate: start.estimate,
    needsApproval: start.needsApproval,
    keyId,
    keyRole: role,
    createdAt: nowMs,
  });
}

/** Makes a program due: its schedule at its next time, its trigger from now on. */
async function arm(
  tx: Executor,
  program: Pick<StandingProgramRecord, "id" | "projectId" | "version">,
  nextAt: number | null,
  source: Source,
): Promise<void> {
  const { id: ownerId, projectId } = program;
  await listen(tx, program, source);
  const dueAt = fireTimeOf(ownerId, nextAt, source);
  if (dueAt !== null) await putDueTasks(tx, [{ ownerId, kind: taskKindOf(source), subject: "", projectId, dueAt }]);
}
