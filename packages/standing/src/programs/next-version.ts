import {
  type Binding,
  createId,
  type JsonObject,
  type ProjectId,
  type ProjectPrincipal,
  quotaFaults,
  type StandingProgramId,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { EstimateDocument } from "@svc/db/documents/programs";
import { eventsForProject } from "@svc/db/events/repo";
import { findJobQuotaReached, insertJobsWithinQuota } from "@svc/db/jobs/insert-batch";
import type { NewJob } from "@svc/db/jobs/new-job";
import {
  addStandingVersion,
  loadStandingVersions,
  type StandingProgramRecord,
  type StandingVersionRecord,
  standingProgramsForProject,
} from "@svc/db/standing/programs";
import type { StandingContext } from "../context.ts";
import { eventOf, inputOf, occurrenceOfEvent } from "../decide/event.ts";
import { type Fire, givenOf } from "../decide/given.ts";
import type { CheckedDefinition } from "../definition/check.ts";
import type { Definition } from "../definition/definition.ts";
import { dailyMax } from "../schedule/catch-up.ts";
import { type LoadedVersion, sealDefinition, titleOf } from "../versions.ts";
import { activate, supersede, takeOver } from "./activate.ts";

/**
 * Number of newest events among which svc searches for an example event. If the schedule's definition names an entity (customer or user),
 * the example must belong to this entity.
 */
const eventsMax = 20;

/** A version that people are asked to approve. */
type PendingVersion = Pick<
  StandingVersionRecord,
  "programId" | "programHash" | "programDigest" | "estimate" | "keyId"
> &
  Pick<
    Parameters<StandingContext["starter"]["rehearse"]>[1],
    "projectId" | "binding" | "program" | "input" | "simulateFirst"
  > & {
    readonly nowMs: number;
  };

/**
 * A version of a schedule that people have approved. The approval is also valid for later versions with the same program and no higher
 * limits.
 */
type ApprovedVersion = {
  readonly record: Pick<StandingVersionRecord, "planHash" | "estimate" | "approval">;
  readonly definition: Definition;
};

const bounds = ["callsMax", "writesMax", "destructiveMax", "rowsMax", "asksMax"] as const;

/** The next version of a standing program (a schedule), before it is stored. The transaction holds the lock on the program. */
export type NextVersion = {
  readonly program: StandingProgramRecord;
  readonly definitionJson: string;
  readonly checked: CheckedDefinition;
  /** True if the program is simulated before people are asked to approve it. False if they are asked without a simulation. */
  readonly simulates: boolean;
  /** The reason why svc makes the version. Empty if a caller defined it. */
  readonly note: string;
  /**
   * True if the new version takes over what is already due (for example times of the schedule that have passed). False if the new version
   * begins with its own next due time. Default false.
   */
  readonly goesOn?: boolean;
};

/** The key that makes a version. Jobs of the version's runs belong to this key. */
export type VersionMaker = Pick<ProjectPrincipal, "projectId" | "keyId" | "role">;

/**
 * Makes the next version of a locked program. The version runs from now on, or after people have approved it. Makes nothing if an identical
 * version already runs or waits for approval.
 */
export async function makeNextVersion(
  context: StandingContext,
  tx: Executor,
  maker: VersionMaker,
  next: NextVersion,
): Promise<void> {
  const { program, definitionJson, checked, simulates, note, goesOn = false } = next;
  const { id, projectId, pendingVersion } = program;
  const nowMs = context.clock.now();
  const programs = standingProgramsForProject(tx, projectId);
  const names = [program.version, ...(pendingVersion === 0 ? [] : [pendingVersion])];
  const known = await loadStandingVersions(
    tx,
    [...new Set(names)].map((version) => ({ programId: id, version })),
  );
  const isSame = ({ definitionHash, planHash, keyId, needsApproval }: StandingVersionRecord) =>
    definitionHash === checked.hash &&
    planHash === checked.planHash &&
    keyId === maker.keyId &&
    needsApproval === checked.start.needsApproval;
  if (known.some((record) => record.version === pendingVersion && isSame(record))) return;
  await supersede(tx, program, nowMs);
  const today = known.find(({ version, approval }) => version === program.version && mayRun(approval));
  if (today !== undefined && isSame(today)) {
    if (pendingVersion !== 0) await programs.change(id, { pendingVersion: 0, updatedAt: nowMs });
    return;
  }
  const [newest] = await programs.listVersions(id, 1);
  const version = (newest?.version ?? 0) + 1;
  const granted = today && (await findGrant(context, tx, today, next));
  const approval: VersionApproval = !checked.start.needsApproval
    ? { kind: "none" }
    : granted !== undefined
      ? { kind: "granted", by: granted }
      : { kind: "asked", simulates };
  await addVersion(context, tx, maker, {
    ...{ id, version, definitionJson, checked, nowMs, approval, note },
    binding: program.binding,
  });
  const title = titleOf({ ...checked, program: checked.start.program });
  if (approval.kind !== "asked") {
    if (goesOn) await takeOver(tx, program, { version, title, definition: checked.definition, nowMs });
    else {
      const { definition, firstAt } = checked;
      await activate(tx, program, { version, title, definition, firstAt, nowMs });
    }
    return;
  }
  const isRequested = program.state === "pending" && program.pauseReason === "requested";
  await programs.change(id, {
    pendingVersion: version,
    updatedAt: nowMs,
    // No version of the program has run yet, so the program itself gets the state `pending`.
    ...(today === undefined && {
      ...{ version, title, state: "pending", nextAt: null, pauseDetail: "" },
      pauseReason: isRequested ? "requested" : "",
    }),
  });
}

/**
 * True if a version of a schedule may run: its plan needs no approval, or people approved it. False if the approval is pending, rejected or
 * superseded.
 */
function mayRun(approval: StandingVersionRecord["approval"]): boolean {
  return approval === "" || approval === "granted";
}

/** Returns the approved version whose approval also covers the next version. Returns undefined if no approval covers it. */
async function findGrant(
  { versions }: StandingContext,
  tx: Executor,
  { programId, grantedVersion, approval }: StandingVersionRecord,
  { program: { projectId }, checked }: NextVersion,
): Promise<StandingVersionRecord | undefined> {
  if (approval !== "granted") return undefined;
  const name = { programId, projectId, version: grantedVersion };
  if (!isCovered((await versions.get(tx, [name]))(name), checked)) return undefined;
  const [record] = await loadStandingVersions(tx, [name]);
  return record;
}

/**
 * The approval of a new version. `none`: it needs no approval. `granted`: the approval of an earlier version covers it. `asked`: people are
 * asked to approve it.
 */
export type VersionApproval =
  | { readonly kind: "none" }
  | { readonly kind: "granted"; readonly by: Pick<StandingVersionRecord, "version" | "approvalId"> }
  | { readonly kind: "asked"; readonly simulates: boolean };

type VersionParts = Pick<NextVersion, "definitionJson" | "checked" | "note"> & {
  readonly id: StandingProgramId;
  readonly version: number;
  readonly nowMs: number;
  readonly approval: VersionApproval;
  readonly binding: Binding | null;
};

/** Stores a version and its program document. If people must approve the version, also stores the job that asks them. */
export async function addVersion(
  context: StandingContext,
  tx: Executor,
  { projectId, keyId, role }: VersionMaker,
  parts: VersionParts,
): Promise<void> {
  const { starter, sealer } = context;
  const { id: programId, version, definitionJson, checked, nowMs, approval, note, binding } = parts;
  const { start, definition, firstAt } = checked;
  const programDigest = await starter.keep(tx, projectId, start);
  const { programHash, estimate, program } = start;
  const of = { programId, programHash, programDigest, estimate, keyId };
  const rehearsal =
    approval.kind === "asked"
      ? await makeRehearsal(context, tx, {
          ...{ ...of, projectId, binding, program, nowMs, simulateFirst: approval.simulates },
          input: await sampleInput(tx, projectId, { definition, program }, firstAt ?? nowMs),
        })
      : [];
  const [main] = rehearsal;
  await addStandingVersion(tx, {
    ...of,
    version,
    definition: sealDefinition(sealer, { projectId, programId, version }, definitionJson),
    definitionHash: checked.hash,
    needsApproval: start.needsApproval,
    keyRole: role,
    approval: approval.kind === "asked" ? "pending" : approval.kind === "granted" ? "granted" : "",
    approvalId: approval.kind === "granted" ? approval.by.approvalId : (main?.job.planApprovalId ?? ""),
    grantedVersion: approval.kind === "granted" ? approval.by.version : 0,
    rehearsalJobId: main?.job.id ?? null,
    planHash: checked.planHash,
    note,
    createdAt: nowMs,
  });
  if (rehearsal.length > 0) await storeRehearsal(tx, rehearsal, nowMs);
}

/**
 * True if the approval of an approved version also covers a new definition of the schedule: it has the same plan and no higher limits.
 * False if people must approve the definition.
 */
function isCovered(approved: ApprovedVersion, { definition, start, planHash }: CheckedDefinition): boolean {
  const { record } = approved;
  if (record.approval !== "granted" || record.planHash !== planHash) return false;
  return isNoLarger(start.estimate, record.estimate) && isDayNoLarger(definition, approved.definition);
}

function isNoLarger(estimate: EstimateDocument, approved: EstimateDocument): boolean {
  return bounds.every((name) => estimate[name] <= approved[name]);
}

/** Returns the maximum runs, tool calls and writes of a definition per day, in this order. Infinity means no maximum. */
function dayOf({ source, budget }: Definition): readonly number[] {
  const { runs = Infinity, toolCalls = Infinity, writes = Infinity } = budget ?? {};
  // A schedule has a known maximum of runs per day. For a trigger or a poll, the number of events or rows is not known in advance. So only
  // the program's budget limits its runs.
  const due = source.kind === "schedule" ? dailyMax(source.schedule) : Infinity;
  return [Math.min(runs, due), toolCalls, writes];
}

function isDayNoLarger(definition: Definition, approved: Definition): boolean {
  const most = dayOf(approved);
  return dayOf(definition).every((value, index) => value <= (most[index] ?? 0));
}

/**
 * Creates the job that asks people to approve a version of a standing program (a schedule), and the simulation job if one is wanted. The
 * jobs are returned and not stored.
 */
function makeRehearsal({ starter }: StandingContext, tx: Executor, version: PendingVersion): Promise<NewJob[]> {
  const { programId, keyId, programDigest, nowMs, ...facts } = version;
  return starter.rehearse(tx, {
    ...facts,
    ...{ keyId, nowMs, digest: programDigest },
    id: createId("job", nowMs),
    principalChain: [`key:${keyId}`, `standing:${programId}`],
    standing: { programId, runId: null, callSeed: null, restoredFrom: null },
  });
}

/**
 * Stores the jobs of an approval dry run (a simulation of a schedule that people see before they approve it). Throws QUOTA_JOBS if the jobs
 * exceed the quota of their project.
 */
async function storeRehearsal(tx: Executor, jobs: readonly NewJob[], nowMs: number): Promise<void> {
  const without = await insertJobsWithinQuota(tx, jobs, nowMs);
  const projectId = jobs[0]?.job.projectId;
  if (without.size > 0 && projectId !== undefined) {
    const reached = await findJobQuotaReached(tx, projectId, jobs.length);
    if (reached === undefined) throw new Error("a rehearsal found no free slot, but there is one");
    throw quotaFaults.jobs(reached.quotaReached);
  }
  for (const { also } of jobs) await also?.(tx);
}

/**
 * Returns an example of the input that runs of a schedule get. The example is for the next due time (`firstAt`) or for the newest event of
 * the trigger. Returns undefined if runs get no input or if an example cannot be made.
 */
async function sampleInput(
  db: Executor,
  projectId: ProjectId,
  version: Pick<LoadedVersion, "definition" | "program">,
  firstAt: number,
): Promise<JsonObject | undefined> {
  const { definition } = version;
  const fire = await sampleFire(db, projectId, definition, firstAt);
  const input = fire && inputOf(version, givenOf(fire, definition.timeZone), undefined);
  return input === undefined || "fault" in input ? undefined : input.value;
}

async function sampleFire(
  db: Executor,
  projectId: ProjectId,
  { source }: LoadedVersion["definition"],
  firstAt: number,
): Promise<Fire | undefined> {
  if (source.kind !== "trigger") {
    return { kind: "schedule", fireAt: firstAt, missed: 0, previousAt: null };
  }
  const filter = { toolkitSlug: "", triggerSlug: source.slug, sinceMs: undefined, untilMs: undefined };
  const found = await eventsForProject(db, projectId).list(filter, { after: undefined, limit: eventsMax });
  const event = found.find(({ entityId }) => source.entity === undefined || entityId === source.entity);
  return event && { ...occurrenceOfEvent(event, eventOf(event)), previousAt: null };
}
