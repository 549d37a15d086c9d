import { type JsonObject, type KeyId, readJsonObject, type Sealer } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { NewStandingRun, StandingRunRecord } from "@svc/db/standing/runs";
import type { DueTaskLease } from "@svc/db/standing/task";
import type { StandingContext } from "../context.ts";
import type { DecisionBatch, PreparedDecision, SourceOutcome } from "../sources/source.ts";
import type { LoadedVersion } from "../versions.ts";
import type { DecisionContext, ProgramHold } from "./decision-context.ts";
import { StartsError } from "./errors.ts";
import { loadBatch } from "./load.ts";
import { inputContext, type Permits, readFacts } from "./read-facts.ts";
import { isAnythingDue, type ProgramDue, withWaiting } from "./waiting.ts";

/** One of the programs (schedules) about which a transaction decides, with the decisions about its runs. */
export type DecidedProgram = Pick<ProgramDue, "program" | "version" | "counted" | "isAdmitted" | "hasMore"> &
  Pick<ProgramOutcome, "called" | "outcomes"> & { readonly decisions: DecisionContext };

/** The decisions for all schedules of a batch: which runs are started, queued or skipped. */
export type DecidedBatch = {
  readonly decided: readonly DecidedProgram[];
  /** Tasks of the batch whose lease (the time-limited right to decide them) this node still has. */
  readonly held: readonly DueTaskLease[];
};

/**
 * Locks the schedules of a batch, and decides which of their due runs are started, queued or skipped. Returns the decisions and writes
 * nothing.
 */
export async function decideBatch(
  context: StandingContext,
  tx: Executor,
  batch: DecisionBatch,
  prepared: PreparedDecision,
): Promise<DecidedBatch> {
  const nowMs = context.clock.now();
  const { loaded, held } = await loadBatch(context, tx, { batch, prepared, nowMs });
  const dues = await withWaiting(context, tx, loaded, nowMs);
  const facts = await readFacts(context, tx, dues, { ...batch, nowMs });
  const { startsMax = Number.POSITIVE_INFINITY } = batch;
  const decided = dues.map((due): DecidedProgram => {
    const decisions = facts.open(due);
    const { called, outcomes, isCut } = decideProgram(context, decisions, due, { ...facts, startsMax });
    const { program, version, counted, isAdmitted } = due;
    const hasMore = due.hasMore || isCut;
    return { program, version, counted, isAdmitted, hasMore, decisions, called, outcomes };
  });
  return { decided, held };
}

/** Texts that say why svc paused a program. People see the text as the detail of the pause reason. */
const detailOf = {
  key_revoked: (keyId: KeyId) => `the key ${keyId}, which owns its runs, was revoked or has expired`,
  approval: () => "the project's policy requires approval of its plan since the program was created",
} as const;

/** The results of a program's decisions. */
type ProgramOutcome = {
  /** Runs that callers started through the API, in the order of these API calls. */
  readonly called: readonly NewStandingRun[];
  readonly outcomes: readonly SourceOutcome[];
  /** True if the maximum number of starts (`startsMax`) was reached although more waiting runs could start. */
  readonly isCut: boolean;
};

/**
 * Rules that limit which runs of a program start in this decision. `startsMax`: maximum number of waiting runs that are started in one
 * transaction.
 */
type Rules = Permits & { readonly startsMax: number };

/**
 * Decides about everything that is due for a schedule's program, and returns the outcome. The order is: ended runs, runs that have
 * collected events for long enough, waiting runs, occurrences (for example due times or events), and starts that a caller requests.
 */
function decideProgram(
  context: Pick<StandingContext, "sealer">,
  decisions: DecisionContext,
  due: ProgramDue,
  rules: Rules,
): ProgramOutcome {
  decisions.skipped += due.late;
  countEnds(decisions, due);
  const hold = holdOf(due, rules);
  if (hold !== undefined && decisions.state !== "paused" && isAnythingDue(due))
    decisions.pause(hold, hold === "drift" ? (due.drifted ?? "") : detailOf[hold](due.version.record.keyId));
  let isCut = false;
  if (decisions.state !== "paused") {
    for (const window of due.closing) naming(window.run, () => decisions.close(window));
    isCut = decideWaiting(context, decisions, due, rules);
  }
  const outcomes = due.sources.flatMap((source) => {
    const outcome = source.decide(decisions, hold);
    decisions.pauseAfterFailures();
    return outcome ?? [];
  });
  const mayCall = hold === undefined && decisions.state === "active";
  const called = mayCall ? due.calls.map(({ occurrence }) => decisions.add(occurrence)) : [];
  decisions.pauseAfterFailures();
  return { called, outcomes, isCut };
}

/**
 * Runs `act`, a decision about `run`. If `act` throws, this function throws an error that names the run. The caller can then leave out this
 * run and decide about all others.
 */
function naming(run: StandingRunRecord, act: () => void): void {
  try {
    act();
  } catch (error) {
    throw new StartsError([run], error);
  }
}

function countEnds(decisions: DecisionContext, { counted }: ProgramDue): void {
  for (const { jobStatus, pauseText } of counted) {
    if (pauseText !== "" && decisions.state === "active") decisions.pause("fail_step", pauseText);
    if (jobStatus === "succeeded") decisions.failuresInRow = 0;
    else if (jobStatus === "failed" || jobStatus === "expired") decisions.failuresInRow++;
  }
  decisions.pauseAfterFailures();
}

function holdOf({ program, version, drifted }: ProgramDue, permits: Permits): ProgramHold | undefined {
  if (!permits.isKeyUsable(version.record.keyId)) return "key_revoked";
  if (mayNotRun(version, { program }, permits)) return "approval";
  return drifted === undefined ? undefined : "drift";
}

/**
 * True if a run of the version may not start, because the project's policy now requires an approval that the version does not have. False
 * if the version was approved or needs no approval.
 */
function mayNotRun(version: LoadedVersion, { program }: Pick<ProgramDue, "program">, permits: Permits): boolean {
  return !version.record.needsApproval && permits.isHeldByPolicy(program, version);
}

/** Decides which waiting runs start now. Returns true if the waiting runs must soon be read again. */
function decideWaiting(
  { sealer }: Pick<StandingContext, "sealer">,
  decisions: DecisionContext,
  due: ProgramDue,
  rules: Rules,
): boolean {
  for (const { run, version } of due.waiting) {
    const { keyId } = version.record;
    if (decisions.isHeldBack(run)) continue;
    if (decisions.starts.length >= rules.startsMax) return true;
    if (!rules.isKeyUsable(keyId)) decisions.decline(run, "key_revoked", detailOf.key_revoked(keyId));
    else if (mayNotRun(version, due, rules)) decisions.decline(run, "approval", detailOf.approval());
    else naming(run, () => decisions.admit(run, version, openInput(sealer, run)));
  }
  // A refused run has no job. The later runs in the queue are usually read when a job ends, so after a refusal they must be read soon.
  return decisions.declined.length > 0;
}

/**
 * Returns the input that the caller gave for a run, decrypted. Returns undefined if the input comes from the definition of the standing
 * program (a schedule).
 */
function openInput(
  sealer: Sealer,
  { id, projectId, input }: Pick<StandingRunRecord, "id" | "projectId" | "input">,
): JsonObject | undefined {
  if (input === null) return undefined;
  return readJsonObject(sealer.open(input, inputContext(projectId, id)).toString("utf8"), "the input of a run");
}
