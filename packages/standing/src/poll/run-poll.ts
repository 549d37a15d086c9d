import { createHash } from "node:crypto";
import { type Action, classToConfirm } from "@svc/catalog";
import {
  assertExhaustive,
  type Binding,
  confirmingRule,
  type KeyId,
  type ProjectId,
  type StandingProgramId,
} from "@svc/core";
import { readConfirmRules } from "@svc/db/projects/plan-policy";
import { findUsableKeys } from "@svc/db/standing/bounds";
import type { ClaimedDueTask } from "@svc/db/standing/claim";
import { findKnownIds, readStandingPolls, type StandingPollRecord } from "@svc/db/standing/polls";
import { readStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import { canonicalHash, type JsonObject, type JsonValue } from "@svc/program";
import type { CallReply } from "@svc/tools";
import type { StandingContext } from "../context.ts";
import { findDrift } from "../prepare/drift.ts";
import type { LoadedVersion } from "../versions.ts";
import { foundBy, type Poll, type WalkSpec, walkSpecOf } from "./definition.ts";
import { newPollState, type PollState } from "./state.ts";
import { type FinishedPoll, openPollState, sealPollState } from "./store.ts";
import { type PollResult, type ReadFault, type WalkBounds, walk } from "./walk.ts";

/** The account that a poll reads, and the key with which it reads. */
type PollReader = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  /** The access scope of the program. Null if it may use the whole project. */
  readonly binding: Binding | null;
  readonly call: string;
  readonly entity: string;
  /** Aborts waits when this node stops or when another node takes over the poll. */
  readonly signal: AbortSignal;
};

/**
 * Maximum pause in milliseconds before the same page is requested again. If the app requires a longer pause, the poll ends, and a later
 * poll tries again.
 */
const patienceMs = 10_000;
const attemptsMax = 3;
const detailCharactersMax = 500;

/**
 * Reads one page of the polled list with an ordinary tool call. So the call limits of the account apply, and the call is recorded in the
 * ledger (the record of all tool calls).
 */
async function readPage(
  { caller, clock }: Pick<StandingContext, "caller" | "clock">,
  { projectId, keyId, binding, call, entity, signal }: PollReader,
  args: JsonObject,
): Promise<{ readonly answer: JsonValue } | { readonly fault: ReadFault }> {
  for (let attempts = 1; ; attempts++) {
    const called = await caller.call({
      caller: { projectId, keyId, binding: readOnly(binding) },
      toolSlug: call,
      args,
      entityId: entity,
      accountId: undefined,
      idempotencyKey: undefined,
      isDryRun: false,
    });
    const read = answerOf(called);
    if ("answer" in read) return read;
    const { retryAfterMs, isFinal } = read.fault;
    const waitMs = retryAfterMs ?? patienceMs;
    if (isFinal === true || retryAfterMs === undefined || waitMs > patienceMs || attempts >= attemptsMax) return read;
    await clock.wait(waitMs, signal);
    if (signal.aborted) return read;
  }
}

/**
 * Returns the access scope reduced to reads. A tool may have changed from a read to a write, and no person approves the calls of a poll;
 * with this scope, such a call is refused.
 */
function readOnly(binding: Binding | null): Binding {
  return { entityId: "", toolkitSlugs: [], ...binding, accessClasses: ["read"] };
}

function answerOf(called: CallReply): { readonly answer: JsonValue } | { readonly fault: ReadFault } {
  switch (called.outcome) {
    case "answered":
    case "held": {
      const { outcome, value, message, retryable, retryAfterMs } = called.answer.result;
      if (outcome === "ok") return { answer: (value ?? null) as JsonValue };
      return {
        fault: { code: outcome, message: message.slice(0, detailCharactersMax), retryAfterMs, isFinal: !retryable },
      };
    }
    case "limited": {
      const { limit, isPaused, retryAfterMs } = called;
      const message = `call limit ${limit} is ${isPaused ? "paused" : "full"}`;
      return { fault: { code: limit, message, retryAfterMs, isLimited: true } };
    }
    case "refused":
      return { fault: { code: "not_callable", message: called.refusal.message, isFinal: true } };
    case "no_such_tool":
      return {
        fault: { code: "not_callable", message: `${called.toolSlug} is no longer in the catalog`, isFinal: true },
      };
    case "in_progress":
    case "key_reused":
      // Without an idempotency key, a call has no other outcome than the ones handled above.
      throw new Error(`a read without a key has the outcome ${called.outcome}`);
    default:
      return assertExhaustive(called);
  }
}

/** Returns the limits of one poll. With one run per row, fewer new rows are allowed, because one transaction writes all these runs. */
const boundsOf = (per: Poll["per"], pagesMax: number): WalkBounds => ({
  pagesMax,
  rowsMax: 10_000,
  foundMax: per === "row" ? 500 : 10_000,
  charactersMax: 1_048_576,
});

const failedMinMs = 60_000;
const failedMaxMs = 3_600_000;

/** The state of a program's polls at the start of a poll. */
type StateBefore = {
  readonly record: StandingPollRecord | undefined;
  readonly state: PollState;
  readonly generation: number;
  readonly identity: Buffer;
};

/**
 * Runs one poll of a program: reads the tool's list, and returns the new rows and the changes to store. It stores nothing itself. Returns
 * undefined if the program no longer polls, for example because it is paused.
 */
export async function runPoll(
  context: StandingContext,
  task: ClaimedDueTask,
  signal: AbortSignal,
): Promise<FinishedPoll | undefined> {
  const { db, views, clock, limits } = context;
  const found = await findPolling(context, task.ownerId);
  if (found === undefined) return undefined;
  const { program, version, drifted } = found;
  const { id: programId, projectId, binding } = program;
  const { source } = version.definition;
  if (source.kind !== "poll") return undefined;
  const { poll } = source;
  const atMs = clock.now();
  const { keyId } = version.record;
  const tool = (await views.forProject(projectId)).tools.get(poll.call);
  const action = tool?.kind === "action" && tool.class === "read" ? tool : undefined;
  const before = stateBefore(context, (await readStandingPolls(db, [programId])).get(programId), poll, action);
  const of = { task, program, version, poll, atMs, before };
  if (!(await findUsableKeys(db, [keyId], atMs)).has(keyId)) {
    const detail = `the key ${keyId}, which owns its runs, was revoked or has expired`;
    return { ...polledOf(context, of, failed("key_revoked", detail)), hold: { reason: "key_revoked", detail } };
  }
  if (drifted !== undefined) {
    return { ...polledOf(context, of, failed("drift", drifted)), hold: { reason: "drift", detail: drifted } };
  }
  const spec = action && walkSpecOf(poll, action);
  if (spec === undefined || action === undefined) {
    const why = action === undefined ? "is no longer a tool of class read" : "no longer declares how it is polled";
    return polledOf(context, of, failed("POLL_INVALID", `${poll.call} ${why}`));
  }
  if (await isToConfirm(context, action, { projectId, keyId })) {
    const why = `sends ${action.request.method} requests of a private toolkit, which a person must confirm; polls ask no person`;
    return polledOf(context, of, failed("POLL_INVALID", `${poll.call} ${why}`));
  }
  const mixed = await context.starter.findMixedRead(projectId, version.record.programDigest, poll.call);
  if (mixed !== undefined) return polledOf(context, of, failed("PROGRAM_MIXES_SANDBOX", mixed.message));
  const { state, generation } = before;
  const walked = await walk(
    { spec, action, state, nowMs: atMs, bounds: boundsOf(poll.per, limits.pollPagesMax) },
    {
      read: (args) =>
        readPage(context, { projectId, keyId, binding, call: poll.call, entity: poll.entity, signal }, args),
      known: (digests) => findKnownIds(db, { programId, generation }, digests),
    },
  );
  return polledOf(context, { ...of, spec }, walked);
}

/**
 * Returns the program for which to poll a tool's list. If the program's tools changed and the program follows such changes, the program
 * first gets a new version. If the program must be paused because of the change, `drifted` contains the reason.
 */
async function findPolling(
  context: StandingContext,
  programId: StandingProgramId,
): Promise<{ program: StandingProgramRecord; version: LoadedVersion; drifted: string | undefined } | undefined> {
  const { db, versions } = context;
  const [program] = await readStandingPrograms(db, [programId]);
  if (program === undefined || program.deletedAt !== null || program.state !== "active") return undefined;
  const name = { programId, projectId: program.projectId, version: program.version };
  const version = (await versions.get(db, [name]))(name);
  const drift = await findDrift(context, program, version);
  // The program follows the changes of its tools and has got a new version, so it is read again.
  if (drift === "moved") return findPolling(context, programId);
  return { program, version, drifted: drift === "none" ? undefined : drift.detail };
}

/**
 * True if, by the rules of a project and a key, a person must confirm calls of this tool. A tool of a private toolkit may be declared as a
 * read although its request changes something. Such a tool counts as destructive here.
 */
async function isToConfirm(
  { db }: Pick<StandingContext, "db">,
  action: Action,
  { projectId, keyId }: Pick<PollReader, "projectId" | "keyId">,
): Promise<boolean> {
  const accessClass = classToConfirm(action);
  if (accessClass === "read") return false;
  return confirmingRule(await readConfirmRules(db, projectId, [keyId]), accessClass) !== undefined;
}

function failed(code: string, message: string): PollResult {
  return { kind: "failed", fault: { code, message, isFinal: true } };
}

/**
 * Returns the stored state of a schedule's polls (regular reads of a tool's list), decrypted. Returns a new state if the schedule's
 * definition now names a different list or a different id field. The rows that exist at that moment then start no run.
 */
function stateBefore(
  { sealer }: StandingContext,
  record: StandingPollRecord | undefined,
  poll: Poll,
  action: Action | undefined,
): StateBefore {
  const identity = identityOf(poll, action);
  if (record === undefined) return { record, state: newPollState(poll.first), generation: 1, identity };
  // If the tool was removed, the old state is kept, because the tool may come back unchanged.
  if (action === undefined || record.identity.equals(identity)) {
    return { record, state: openPollState(sealer, record), generation: record.generation, identity: record.identity };
  }
  return { record, state: newPollState("skip"), generation: record.generation + 1, identity };
}

function identityOf(poll: Poll, action: Action | undefined): Buffer {
  const { call, entity, args, on, keep } = poll;
  const { rows, id, cursor } = action === undefined ? poll : foundBy(poll, action);
  const content = on === "changed" ? { on, keep: keep ?? null } : { on };
  const identity = { call, entity, args, rows: rows ?? null, id: id ?? null, cursor: cursor ?? null, ...content };
  return createHash("sha256").update(canonicalHash(identity)).digest();
}

type Of = {
  readonly task: ClaimedDueTask;
  readonly program: StandingProgramRecord;
  readonly version: LoadedVersion;
  readonly poll: Poll;
  readonly atMs: number;
  readonly before: StateBefore;
  readonly spec?: WalkSpec;
};

function polledOf(context: StandingContext, of: Of, walked: PollResult): FinishedPoll {
  const { task, program, version, poll, atMs, before, spec } = of;
  const { record: earlier, generation, identity } = before;
  const failures = failuresOf(earlier?.failuresInRow ?? 0, walked);
  const shared = {
    ...{ task, programId: program.id, loaded: version, per: poll.per, atMs, failures, hold: undefined },
    isTrimmed: spec !== undefined && spec.cursor.kind !== "seen",
  };
  const state = walked.kind === "read" ? walked.state : before.state;
  const record: StandingPollRecord = {
    ...{ programId: program.id, projectId: program.projectId, generation, identity },
    state: sealPollState(context.sealer, { programId: program.id, projectId: program.projectId }, state),
    isPrimed: state.isPrimed,
    polls: (earlier?.polls ?? 0) + 1,
    seen: earlier?.generation === generation ? earlier.seen : 0,
    hasStale: generation > 1 && (earlier?.generation !== generation || earlier.hasStale),
    polledAt: atMs,
    failuresInRow: failures.now,
    ...outcomeOf(walked),
  };
  if (walked.kind === "failed") {
    const nextAt = atMs + backoffMs(walked.fault, failures.now);
    const nothing = { found: [], remembered: [], unknown: 0, refreshed: [], forgetBefore: undefined };
    return { ...shared, ...nothing, nextAt, record };
  }
  const { found, remembered, unknown, refreshed, forgetBefore, hasMore } = walked;
  return {
    ...shared,
    found,
    remembered,
    unknown,
    refreshed,
    forgetBefore,
    record,
    nextAt: hasMore ? atMs : atMs + poll.everyMs,
  };
}

type Outcome = Pick<StandingPollRecord, "outcome" | "code" | "detail" | "pages" | "rows" | "found">;

function outcomeOf(walked: PollResult): Outcome {
  if (walked.kind === "failed") {
    const { code, message, isLimited } = walked.fault;
    return { outcome: isLimited === true ? "limited" : "failed", code, detail: message, pages: 0, rows: 0, found: 0 };
  }
  const { pages, rows, found, hasMore } = walked;
  return { outcome: hasMore ? "more" : "ok", code: "", detail: "", pages, rows, found: found.length };
}

function failuresOf(before: number, walked: PollResult): FinishedPoll["failures"] {
  if (walked.kind === "read") return { before, now: 0 };
  return { before, now: walked.fault.isLimited === true ? before : before + 1 };
}

/**
 * Returns the pause after a failed poll in milliseconds: one minute after the first failure, doubled after each further failure, at most
 * one hour. If the app requires a longer pause, returns that pause.
 */
function backoffMs({ retryAfterMs = 0, isLimited }: ReadFault, failures: number): number {
  if (isLimited === true) return Math.max(1_000, retryAfterMs);
  return Math.max(retryAfterMs, Math.min(failedMaxMs, failedMinMs * 2 ** Math.min(failures - 1, 10)));
}
