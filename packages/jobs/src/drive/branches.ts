import type { Step } from "@svc/program";
import { apply, type Work } from "../state/apply.ts";
import type { Change, Next, Question } from "../state/change.ts";
import { type AgainInstruction, branchOf, type StepInstruction } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import type { StepEffects } from "../steps/effects.ts";
import { resumeFromAsk } from "./answer.ts";
import { question } from "./ask.ts";
import { advanceWith, atTime, endRound, kindOf, skipUnlessDue, stepAtHand } from "./begin.ts";
import { limitOf } from "./end.ts";
import { afterHandling, failureOf, joinBranches } from "./failure.ts";
import type { Port } from "./port.ts";

/** What becomes of a job whose branches were driven: a change that is to be followed; undefined when it was parked and left. */
export type BranchesEnd = { readonly work: Work; readonly change: Change } | undefined;

type Driving = { readonly port: Port; readonly effects: StepEffects };

/** What a branch waits for that time brings. */
type Blocked = { readonly atMs: number; readonly isWait: boolean; readonly stepId: string };

/**
 * Drives the branches of a `parallel`, an act of each at a time, until all have come to their end, none can go on, or the driver is wanted.
 * Their acts run beside each other; what they change is applied and committed one after the other.
 */
export function runBranches(work: Work, driving: Driving): Promise<BranchesEnd> {
  return new BranchesRun(work, driving).run();
}

class BranchesRun {
  #work: Work;
  readonly #port: Port;
  readonly #effects: StepEffects;
  readonly #parallel: StepInstruction;
  readonly #acting = new Map<number, Promise<void>>();
  readonly #blocked = new Map<number, Blocked>();
  /** Questions that wait until the one that is asked is settled. Nothing of their acts is applied before. */
  readonly #questions = new Map<number, Change>();
  #queue: Promise<unknown> = Promise.resolve();
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** Ends all branches. */
  #ending: Next | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(work: Work, { port, effects }: Driving) {
    const { state } = work;
    const { flow, program } = state.loaded;
    const at = branchOf(flow, state.positions[0]?.index ?? -1);
    if (at === undefined) throw new Error(`${state.id} stands in no branch`);
    this.#work = work;
    this.#port = port;
    this.#parallel = at.parallel;
    const call = bounded(program.limits.concurrency, effects.call);
    const { toolCalls, writes } = state.used;
    this.#effects = { ...effects, call, reserved: { toolCalls, writes } };
    state.positions.forEach(({ progress }, branch) => {
      const dueAt = progress?.kind === "call" ? progress.retry?.dueAt : undefined;
      if (dueAt !== undefined && progress?.askId === undefined)
        this.#blocked.set(branch, { atMs: dueAt, isWait: false, stepId: "" });
    });
  }

  async run(): Promise<BranchesEnd> {
    for (;;) {
      await this.#lookForAnswer();
      for (const branch of this.#parallel.branches.keys()) if (this.#mayGoOn(branch)) this.#start(branch);
      if (this.#acting.size === 0) break;
      await this.#untilMoved();
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#end();
  }

  #start(branch: number): void {
    const acting = this.#goOn(branch)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#acting.delete(branch));
    this.#acting.set(branch, acting);
  }

  /** Waits until a branch stops, one is due, or it is time to look for an answer. */
  async #untilMoved(): Promise<void> {
    const { clock, busyPollMs } = this.#port;
    const dues = this.#listBlocked().map(({ atMs }) => atMs);
    if (askOf(this.#work.state) !== undefined) dues.push(this.#lookedAtMs + busyPollMs);
    const woken = new AbortController();
    const waits = dues.length === 0 ? [] : [clock.wait(Math.max(0, Math.min(...dues) - clock.now()), woken.signal)];
    await Promise.race([...this.#acting.values(), ...waits]);
    woken.abort();
  }

  #mustStop(): boolean {
    return this.#failure !== undefined || this.#ending !== undefined || this.#effects.mustPause(this.#work.state);
  }

  #isOver(branch: number): boolean {
    const { blocks, positions } = this.#work.state;
    const block = blocks[this.#parallel.step.id];
    const isOver = block?.kind === "parallel" && block.over.includes(branch);
    return isOver || positions[branch]?.index === this.#parallel.branches[branch]?.join;
  }

  #mayGoOn(branch: number): boolean {
    if (this.#acting.has(branch) || this.#mustStop() || this.#isOver(branch)) return false;
    return this.#isFree(branch);
  }

  /** What branches wait for that are not over, the first due first. */
  #listBlocked(): Blocked[] {
    const blocked = [...this.#blocked].filter(([branch]) => !this.#acting.has(branch) && !this.#isOver(branch));
    return blocked.map(([, due]) => due).sort((a, b) => a.atMs - b.atMs);
  }

  /** Whether a branch waits neither for time nor for a person. */
  #isFree(branch: number): boolean {
    const { state } = this.#work;
    if (this.#questions.has(branch)) return askOf(state) === undefined;
    if (state.positions[branch]?.progress?.askId !== undefined) return false;
    return (this.#blocked.get(branch)?.atMs ?? 0) <= this.#port.clock.now();
  }

  async #goOn(branch: number): Promise<void> {
    this.#blocked.delete(branch);
    while (!this.#mustStop() && !this.#isOver(branch) && this.#isFree(branch)) await this.#act(branch);
    // Nothing of it waits until the others have come so far.
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
        throw new Error(`${state.id} stands at no step in a branch`);
    }
  }

  #endRound(branch: number, round: AgainInstruction): Promise<Change> {
    return endRound(atTime(this.#work.state, this.#port.clock.now(), branch), round, this.#effects);
  }

  async #advance(branch: number, step: Step): Promise<void> {
    await this.#serially(() => this.#ready(branch, step));
    if (this.#isOver(branch)) return;
    const { clock } = this.#port;
    const at = stepAtHand(this.#work, clock.now(), branch);
    if (at === undefined) throw new Error(`${this.#work.state.id} stands at no step`);
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

  /** As of a job with one position: who calls has begun, and who reads a set reads the store. */
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

  /** Runs one after the other what changes the job or commits it. After an error the job is read anew: nothing is committed any more. */
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
      // It was given up meanwhile, and has called nothing.
      if (this.#isOver(branch)) return;
      const { state } = this.#work;
      const isSecond = change.next.kind === "ask" && !state.isSimulated && askOf(state) !== undefined;
      if (isSecond) this.#questions.set(branch, change);
      else await this.#apply(branch, withinRows(state, change));
    });
  }

  async #apply(branch: number, { edits, next }: Change): Promise<void> {
    this.#work = apply(this.#work, edits, this.#port.clock.now());
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
      case "ask":
        return this.#ask(branch, next.question);
      case "limit":
        return this.#apply(branch, limitOf(state, next));
      case "fail":
        await this.#apply(branch, failureOf(state, next));
        return this.#withdraw();
      default:
        this.#ending = next;
    }
  }

  /** Puts a question while the other branches go on: the job is parked on it when they cannot. */
  async #ask(branch: number, asked: Question): Promise<void> {
    const change = await question(this.#work.state, asked, this.#port, { isBeside: true });
    await this.#apply(branch, change);
    if (askOf(this.#work.state) !== undefined) await this.#port.onFaultPoint?.("after-ask-commit", { stepId: "" });
  }

  /** The question of a branch that was given up is not asked any more. */
  async #withdraw(): Promise<void> {
    const { state } = this.#work;
    const block = state.blocks[this.#parallel.step.id];
    const over = block?.kind === "parallel" ? block.over : [];
    const asking = over.flatMap((branch) => state.positions[branch]?.progress ?? []).find(({ askId }) => askId);
    if (asking === undefined) return;
    const { askId: _ask, ...progress } = asking;
    await this.#port.locked(async (job) => {
      const { events } = await job.closeAsks(state.principalChain);
      const edits = [
        { kind: "withdrawn", events },
        { kind: "progress", progress },
      ] as const;
      const withdrawn = apply(this.#work, edits, this.#port.clock.now());
      this.#work = (await job.commit(withdrawn, { task: "keep" })).work;
    });
  }

  /** Whether the question of a branch is settled by now. */
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

  /** What follows, now that no branch is at work. */
  async #end(): Promise<BranchesEnd> {
    const work = this.#work;
    const { state } = work;
    const then = (next: Next): BranchesEnd => ({ work, change: { edits: [], next } });
    if (this.#ending !== undefined) return then(this.#ending);
    if (this.#effects.mustPause(state)) return then({ kind: "on" });
    if (state.positions.every((_position, branch) => this.#isOver(branch))) {
      return { work, change: joinBranches(state, this.#parallel) };
    }
    const [first, ...others] = this.#listBlocked();
    const askId = askOf(state);
    if (askId !== undefined) return (await this.#park(askId, first?.atMs)) ? undefined : then({ kind: "on" });
    if (first === undefined) throw new Error(`no branch of ${state.id} can go on`);
    const { atMs, stepId } = first;
    const isWait = [first, ...others].every((blocked) => blocked.isWait);
    return then(isWait ? { kind: "wait", stepId, atMs } : { kind: "until", atMs });
  }

  /** Parks the job on the question of a branch, unless it was settled meanwhile: its answer then moved nothing. */
  #park(askId: string, wakeAt: number | undefined): Promise<boolean> {
    return this.#port.locked(async (job) => {
      const { asks } = await job.closeAsks(undefined);
      if (asks.find(({ id }) => id === askId)?.state !== "pending") return false;
      const nowMs = this.#port.clock.now();
      const { state } = this.#work;
      const asking = state.positions.find(({ progress }) => progress?.askId === askId)?.progress?.stepId ?? "";
      const block = state.blocks[asking];
      if (block?.kind !== "asked") throw new Error(`what ${asking} asks is not known`);
      const park = { ...block.park, since: nowMs, ...(wakeAt !== undefined && { wakeAt }) };
      const edits = [
        { kind: "move", to: "parked", reason: park.reason },
        { kind: "park", park },
        { kind: "deadline", clock: "stops" },
      ] as const;
      const task = wakeAt === undefined ? "end" : { dueAtMs: wakeAt };
      await job.commit(apply(this.#work, edits, nowMs), { task });
      return true;
    });
  }
}

function askOf({ positions }: JobState): string | undefined {
  return positions.find(({ progress }) => progress?.askId !== undefined)?.progress?.askId;
}

/** Rows that other branches fetched meanwhile count as well. */
function withinRows({ used, loaded }: JobState, change: Change): Change {
  const fetched = change.edits.flatMap((edit) => (edit.kind === "fetched" ? [edit] : []));
  const rows = fetched.reduce((sum, edit) => sum + edit.rows.length, used.rows);
  const [first] = fetched;
  if (first === undefined || rows <= loaded.program.limits.rows) return change;
  const edits = change.edits.filter(({ kind }) => ["use", "calls", "note", "recorded", "called"].includes(kind));
  return { edits, next: { kind: "limit", stepId: first.setId, limit: "rows" } };
}

/** At most so many calls at one time. */
function bounded<Args extends unknown[], T>(max: number, call: (...args: Args) => Promise<T>) {
  let free = max;
  const waiting: (() => void)[] = [];
  return async (...args: Args): Promise<T> => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    try {
      return await call(...args);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
