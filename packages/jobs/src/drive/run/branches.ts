import type { Step } from "@svc/program";
import { apply, type WorkingJob } from "../../state/apply.ts";
import type { Change, JobQuestion, Next } from "../../state/change.ts";
import { type AgainInstruction, branchOf, type StepInstruction } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import type { AttemptResult, StepEffects } from "../../steps/effects.ts";
import { SharedLimits } from "../../steps/shared-limits.ts";
import { resumeFromAsk } from "../ask/answer.ts";
import { question } from "../ask/ask.ts";
import { askOf, bounded, rowsIn, withdrawQuestion } from "../ask/branch-asks.ts";
import type { Port } from "../port.ts";
import { advanceWith, atTime, endRound, kindOf, skipUnlessDue, stepAtHand } from "./begin.ts";
import { type BlockedBranch, type BranchesEnd, endBranches, isOver, readOpenChildren } from "./branches-end.ts";
import { limitOf } from "./end.ts";
import { afterHandling, failureOf } from "./failure.ts";

type BranchContext = { readonly port: Port; readonly effects: StepEffects };

/**
 * Runs the branches of a `parallel` step until all have ended, none can continue, or this node must stop its work on the job. Actions of
 * different branches run at the same time. Their changes are applied and committed one after another.
 */
export function runBranches(work: WorkingJob, driving: BranchContext): Promise<BranchesEnd> {
  return new BranchesRun(work, driving).run();
}

class BranchesRun {
  #work: WorkingJob;
  readonly #port: Port;
  readonly #effects: StepEffects;
  readonly #parallel: StepInstruction;
  readonly #shared: SharedLimits;
  readonly #acting = new Map<number, Promise<void>>();
  readonly #blocked = new Map<number, BlockedBranch>();
  /**
   * Changes with which parallel branches ask a person a question, by branch number. The job asks one question at a time, so the others wait
   * here.
   */
  readonly #questions = new Map<number, Change>();
  #queue: Promise<unknown> = Promise.resolve();
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /**
   * Next action of the job after its parallel branches, if one branch made all branches end (for example because it failed). Undefined
   * while the branches run.
   */
  #ending: Next | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** True if a person must confirm the call of a branch. The driver asks the person when all branches have stopped. */
  #isPostponed = false;

  constructor(work: WorkingJob, { port, effects }: BranchContext) {
    const { state } = work;
    const { flow, program } = state.loaded;
    const at = branchOf(flow, state.positions[0]?.index ?? -1);
    if (at === undefined) throw new Error(`${state.id} has no current branch`);
    this.#work = work;
    this.#port = port;
    this.#parallel = at.parallel;
    const call = bounded(program.limits.concurrency, effects.call);
    this.#shared = new SharedLimits(program.limits, state.used, state.positions.length);
    this.#effects = {
      ...effects,
      call: (...made) => this.#noticeUnconfirmed(call(...made)),
      shared: this.#shared,
      mustPause: (job) => this.#isPostponed || effects.mustPause(job),
    };
    state.positions.forEach(({ progress }, branch) => {
      const dueAt = progress?.kind === "call" ? progress.retry?.dueAt : undefined;
      if (dueAt !== undefined && progress?.askId === undefined)
        this.#blocked.set(branch, { atMs: dueAt, isWait: false, stepId: "" });
    });
  }

  async run(): Promise<BranchesEnd> {
    for (const { id, limits } of await readOpenChildren(this.#work.state, this.#port)) this.#shared.hold(id, limits);
    for (;;) {
      await this.#lookForAnswer();
      for (const branch of this.#parallel.branches.keys()) if (this.#mayGoOn(branch)) this.#start(branch);
      if (this.#acting.size === 0) break;
      await this.#untilMoved();
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    return endBranches({
      work: this.#work,
      port: this.#port,
      parallel: this.#parallel,
      ending: this.#ending,
      dues: this.#listBlocked(),
      mustPause: this.#effects.mustPause,
    });
  }

  #start(branch: number): void {
    const acting = this.#goOn(branch)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#acting.delete(branch));
    this.#acting.set(branch, acting);
  }

  /**
   * Waits until a branch of the `parallel` step finishes its action, a waiting branch is due, or it is time to check if a person has
   * answered.
   */
  async #untilMoved(): Promise<void> {
    const { clock, busyPollMs } = this.#port;
    // No branch is started any more, so only the end of a branch's action counts.
    if (this.#mustStop()) return Promise.race(this.#acting.values());
    const dues = this.#listBlocked().map(({ atMs }) => atMs);
    if (askOf(this.#work.state) !== undefined) dues.push(this.#lookedAtMs + busyPollMs);
    const woken = new AbortController();
    const waits = dues.length === 0 ? [] : [clock.wait(Math.max(0, Math.min(...dues) - clock.now()), woken.signal)];
    await Promise.race([...this.#acting.values(), ...waits]);
    woken.abort();
  }

  /** Returns the result of a call. Sets `#isPostponed` if the call was not sent because a person must confirm it first. */
  async #noticeUnconfirmed(attempt: Promise<AttemptResult>): Promise<AttemptResult> {
    const result = await attempt;
    // `createCalls` returns `limited` with a wait of 0 milliseconds only if a person must confirm the call.
    this.#isPostponed ||= result.kind === "limited" && result.waitMs === 0;
    return result;
  }

  #mustStop(): boolean {
    return this.#failure !== undefined || this.#ending !== undefined || this.#effects.mustPause(this.#work.state);
  }

  #isOver(branch: number): boolean {
    return isOver(this.#work.state, this.#parallel, branch);
  }

  #mayGoOn(branch: number): boolean {
    if (this.#acting.has(branch) || this.#mustStop() || this.#isOver(branch)) return false;
    return this.#isFree(branch);
  }

  /** Returns the branches that wait, sorted by the times for which they wait. */
  #listBlocked(): BlockedBranch[] {
    const blocked = [...this.#blocked].filter(([branch]) => !this.#acting.has(branch) && !this.#isOver(branch));
    return blocked.map(([, due]) => due).sort((a, b) => a.atMs - b.atMs);
  }

  /**
   * Returns true if a parallel branch of the job can continue now. Returns false if the branch waits for a time or a person, or has ended.
   */
  #isFree(branch: number): boolean {
    const { state } = this.#work;
    if (this.#questions.has(branch)) return askOf(state) === undefined && !this.#shared.isFullForNow("asks");
    if (state.positions[branch]?.progress?.askId !== undefined) return false;
    return (this.#blocked.get(branch)?.atMs ?? 0) <= this.#port.clock.now();
  }

  async #goOn(branch: number): Promise<void> {
    this.#blocked.delete(branch);
    while (!this.#mustStop() && !this.#isOver(branch) && this.#isFree(branch)) await this.#act(branch);
    // The work of this branch is committed now, without waiting for the other branches. The branch can continue only after this commit.
    await this.#serially(() => this.#commit());
  }

  async #act(branch: number): Promise<void> {
    const port = this.#port;
    port.atWork();
    const asked = this.#questions.get(branch);
    if (asked !== undefined) {
      this.#questions.delete(branch);
      return this.#settle(branch, asked);
    }
    const { state } = this.#work;
    const { index = -1, progress } = state.positions[branch] ?? {};
    const instruction = state.loaded.flow.instructions[index];
    switch (instruction?.kind) {
      case "jump":
        return this.#settle(branch, { edits: [{ kind: "go", from: index, to: instruction.to }], next: { kind: "on" } });
      case "handled":
        return this.#settle(branch, afterHandling(state, instruction.step.id, { from: index, to: instruction.to }));
      case "again":
        return this.#settle(branch, await this.#endRound(branch, instruction));
      case "step": {
        const at = stepAtHand(this.#work, port.clock.now(), branch);
        const skipped = progress === undefined && at ? await skipUnlessDue(at, this.#effects) : undefined;
        return skipped === undefined ? this.#advance(branch, instruction.step) : this.#settle(branch, skipped);
      }
      default:
        throw new Error(`${state.id} has no current step in a branch`);
    }
  }

  #endRound(branch: number, round: AgainInstruction): Promise<Change> {
    return endRound(atTime(this.#work.state, this.#port.clock.now(), branch), round, this.#effects);
  }

  async #advance(branch: number, step: Step): Promise<void> {
    await this.#serially(() => this.#ready(branch, step));
    if (this.#isOver(branch)) return;
    const { clock, busyPollMs } = this.#port;
    if ("rows" in step && step.rows !== undefined && this.#shared.isFullForNow("rows")) {
      this.#blocked.set(branch, { atMs: clock.now() + busyPollMs, isWait: false, stepId: "" });
      return;
    }
    const at = stepAtHand(this.#work, clock.now(), branch);
    if (at === undefined) throw new Error(`${this.#work.state.id} has no current step`);
    const { now = clock.now() } = at.state.scope;
    const keep = (edits: Change["edits"]): Promise<JobState> =>
      this.#serially(async () => {
        this.#port.atWork();
        this.#work = apply(this.#work, edits, clock.now());
        await this.#commit();
        return atTime(this.#work.state, now, branch);
      });
    await this.#settle(branch, await advanceWith(at, { call: undefined, keep }, this.#effects));
  }

  /**
   * Prepares the next step of a parallel branch. A step that makes calls is marked as begun, and the mark is committed before the calls. If
   * the step reads a set (a list of rows), the rows of the set are committed first.
   */
  async #ready(branch: number, step: Step): Promise<void> {
    if (this.#isOver(branch)) return;
    const { needs, beginsWith } = kindOf(step);
    const { placed, runs, clearedSets } = this.#work.pending;
    if (needs === "commit" && this.#work.state.positions[branch]?.progress === undefined) {
      const rows = beginsWith && { rows: beginsWith };
      this.#work = apply(this.#work, [{ kind: "begin", step, ...rows }], this.#port.clock.now());
    }
    const hasPlaced = placed.length + runs.length + clearedSets.length > 0;
    if (needs === "commit" || (needs === "rows" && hasPlaced)) await this.#commit();
  }

  /**
   * Runs a function that changes or commits the job, after all earlier such functions. If one fails, all later ones are rejected, because
   * the job must be read again.
   */
  #serially<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(() => {
      if (this.#failure !== undefined) throw this.#failure.error;
      return run();
    });
    this.#queue = done.catch((error: unknown) => {
      this.#failure ??= { error };
    });
    return done;
  }

  async #commit(): Promise<void> {
    if (this.#work.state === this.#work.committed) return;
    this.#work = (await this.#port.commit(this.#work, { task: "keep" })).work;
  }

  #settle(branch: number, change: Change): Promise<void> {
    return this.#serially(async () => {
      // The branch was given up while its action ran. The action has made no call, so its changes are dropped.
      if (this.#isOver(branch)) return this.#release(change);
      const { state } = this.#work;
      const mayAsk = askOf(state) === undefined && !this.#shared.isFullForNow("asks");
      if (change.next.kind === "ask" && !state.isSimulated && !mayAsk) this.#questions.set(branch, change);
      else await this.#apply(branch, withinRows(change, this.#shared));
    });
  }

  #release({ edits }: Change): void {
    for (const edit of edits) if (edit.kind === "child") this.#shared.release(edit.child.id);
  }

  async #apply(branch: number, { edits, next }: Change): Promise<void> {
    this.#work = apply(this.#work, edits, this.#port.clock.now());
    this.#shared.own.rows += rowsIn(edits);
    const { state } = this.#work;
    switch (next.kind) {
      case "on":
        return;
      case "commit":
        return this.#commit();
      case "until":
        this.#blocked.set(branch, { atMs: next.atMs, isWait: false, stepId: "" });
        return;
      case "wait":
        this.#blocked.set(branch, { atMs: next.atMs, isWait: true, stepId: next.stepId });
        return;
      case "await":
        return this.#await(branch, next);
      case "ask":
        return this.#ask(branch, next.question);
      case "limit":
        return this.#apply(branch, limitOf(state, next));
      case "fail":
        await this.#apply(branch, failureOf(state, next));
        this.#work = await withdrawQuestion(this.#work, this.#parallel, this.#port);
        return;
      default:
        this.#ending = next;
    }
  }

  /**
   * Commits the work of a branch that waits for child jobs. The branch checks these children again after a pause, while other branches run.
   */
  async #await(branch: number, { atMs }: Extract<Next, { kind: "await" }>): Promise<void> {
    await this.#commit();
    const { clock, busyPollMs } = this.#port;
    const lookAtMs = clock.now() + busyPollMs;
    const isForChildren = atMs === undefined;
    this.#blocked.set(branch, { atMs: Math.min(lookAtMs, atMs ?? lookAtMs), isWait: false, stepId: "", isForChildren });
  }

  /**
   * Asks the question of a branch while the rest of the branches continue. When they can no longer continue, the job is parked (stored as
   * waiting) until the question is answered.
   */
  async #ask(branch: number, asked: JobQuestion): Promise<void> {
    const change = await question(this.#work.state, asked, this.#port, { isBeside: true });
    for (const edit of change.edits) if (edit.kind === "use") this.#shared.own.asks += edit.used.asks ?? 0;
    await this.#apply(branch, change);
    if (askOf(this.#work.state) !== undefined) await this.#port.onFaultPoint?.("after-ask-commit", { stepId: "" });
  }

  /**
   * Checks if the open question of a branch is settled (answered or expired). If it is settled, applies the result to that branch.
   * Otherwise does nothing.
   */
  async #lookForAnswer(): Promise<void> {
    const { clock, busyPollMs } = this.#port;
    if (askOf(this.#work.state) === undefined || clock.now() - this.#lookedAtMs < busyPollMs) return;
    this.#lookedAtMs = clock.now();
    await this.#serially(async () => {
      const { state } = this.#work;
      const branch = state.positions.findIndex(({ progress }) => progress?.askId !== undefined);
      const change = await resumeFromAsk(state, this.#port);
      if (branch >= 0 && change.next.kind !== "leave") await this.#apply(branch, change);
    });
  }
}

/**
 * Returns the change, or a failure of the step if its rows exceed the job's limit of rows. Rows that other branches fetched, and rows
 * reserved for child jobs, count too.
 */
function withinRows(change: Change, shared: SharedLimits): Change {
  const first = change.edits.find((edit) => edit.kind === "fetched");
  if (first === undefined || rowsIn(change.edits) <= shared.room().rows) return change;
  const edits = change.edits.filter(({ kind }) => ["use", "calls", "note", "recorded", "called"].includes(kind));
  return { edits, next: { kind: "limit", stepId: first.setId, limit: "rows" } };
}
