import { createId, isWithin, type ProjectPrincipal, type StandingProgramId } from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { isUniqueViolation } from "@svc/db/driver";
import { loadStandingVersions, standingProgramsForProject } from "@svc/db/standing/programs";
import { canonicalHash, type ProgramNote } from "@svc/program";
import type { StandingContext } from "../context.ts";
import { type CheckedDefinition, checkDefinition } from "../definition/check.ts";
import { readDefinition } from "../definition/read.ts";
import { standingFaults } from "../errors.ts";
import { isOver } from "../schedule/due.ts";
import { titleOf } from "../versions.ts";
import { arm } from "./activate.ts";
import { addVersion } from "./next-version.ts";

const slugPattern = /^[a-z][a-z0-9_-]{0,62}$/;

/** Properties of a standing program (which starts jobs on a schedule or event) that is to be created. */
export type NewProgram = {
  readonly slug: string;
  readonly definitionJson: string;
  readonly isPaused: boolean;
  /** True if the program is simulated before people are asked to approve it. False if they are asked without a simulation. */
  readonly simulates: boolean;
};

/** A created or updated program, with notes about its definition. */
export type DefinedProgram = { readonly id: StandingProgramId; readonly notes: readonly ProgramNote[] };

/**
 * Creates a program, and returns its id and notes about its definition. If the same program exists with this slug, returns its id. Throws
 * the errors of CreateStandingProgram.
 */
export async function createProgram(
  context: StandingContext,
  principal: ProjectPrincipal,
  { slug, definitionJson, isPaused, simulates }: NewProgram,
): Promise<DefinedProgram> {
  const { db, clock, limits } = context;
  const { projectId, role, binding = null } = principal;
  if (!slugPattern.test(slug)) throw standingFaults.STANDING_SLUG_INVALID(slug);
  const hash = await hashOfDefinition(definitionJson);
  const earlier = await findSame(db, principal, slug, hash);
  // This check comes first, so an existing program is returned even if its tools, accounts or contacts have changed.
  if (earlier !== undefined) return { id: earlier, notes: [] };
  const checked = await checkDefinition(context, { projectId, role, binding, definitionJson, nowMs: clock.now() });
  if ("refusal" in checked) throw checked.refusal;
  const programs = standingProgramsForProject(db, projectId);
  if ((await programs.count()) >= limits.programsMax)
    throw standingFaults.STANDING_PROGRAMS_TOO_MANY(limits.programsMax);
  try {
    const id = await withTransaction(db, (tx) =>
      addProgram(context, tx, principal, { slug, definitionJson, isPaused, simulates, checked }),
    );
    return { id, notes: checked.notes };
  } catch (error) {
    if (!isUniqueViolation(error, "standing_programs_slug")) throw error;
    const other = await findSame(db, principal, slug, hash);
    if (other === undefined) throw standingFaults.STANDING_SLUG_TAKEN(slug);
    return { id: other, notes: [] };
  }
}

async function addProgram(
  context: StandingContext,
  tx: Executor,
  principal: ProjectPrincipal,
  made: NewProgram & { readonly checked: CheckedDefinition },
): Promise<StandingProgramId> {
  const { slug, definitionJson, isPaused, simulates, checked } = made;
  const nowMs = context.clock.now();
  const id = createId("stp", nowMs);
  const { projectId } = principal;
  const isPending = checked.start.needsApproval;
  const { source } = checked.definition;
  const nextAt = checked.firstAt;
  await standingProgramsForProject(tx, projectId).add({
    id,
    slug,
    title: titleOf({ ...checked, program: checked.start.program }),
    state: isPending ? "pending" : isPaused ? "paused" : isOver(source, nextAt) ? "ended" : "active",
    pauseReason: isPaused ? "requested" : "",
    version: 1,
    pendingVersion: isPending ? 1 : 0,
    sourceKind: source.kind,
    timeZone: checked.definition.timeZone,
    binding: principal.binding ?? null,
    nextAt: isPending ? null : nextAt,
    createdAt: nowMs,
    updatedAt: nowMs,
  });
  const approval = isPending ? ({ kind: "asked", simulates } as const) : ({ kind: "none" } as const);
  await addVersion(context, tx, principal, {
    ...{ id, version: 1, definitionJson, checked, nowMs, approval, note: "" },
    binding: principal.binding ?? null,
  });
  if (!isPaused && !isPending) await arm(tx, { id, projectId, version: 1 }, { nextAt, source, nowMs, admits: false });
  return id;
}

/**
 * Returns the id of the program with this slug if its definition is the same. Returns undefined if no program has the slug. Throws
 * STANDING_SLUG_TAKEN if the definitions differ, or if the program may access more than the caller may.
 */
async function findSame(
  db: Executor,
  { projectId, binding }: ProjectPrincipal,
  slug: string,
  hash: string | undefined,
): Promise<StandingProgramId | undefined> {
  const found = await standingProgramsForProject(db, projectId).findBySlug(slug);
  if (found === undefined) return undefined;
  if (!isWithin(found, binding)) throw standingFaults.STANDING_SLUG_TAKEN(slug);
  const [version] = await loadStandingVersions(db, [{ programId: found.id, version: found.version }]);
  if (version?.definitionHash !== hash) throw standingFaults.STANDING_SLUG_TAKEN(slug);
  return found.id;
}

/**
 * Returns a hash by which two definitions of schedules are compared: the SHA-256 of the canonical JSON, in hex. Returns undefined if the
 * text is not a definition.
 */
async function hashOfDefinition(definitionJson: string): Promise<string | undefined> {
  const { document } = await readDefinition(definitionJson, undefined);
  return document && canonicalHash(document);
}
