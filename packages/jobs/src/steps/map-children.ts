import { createId, type Id } from "@svc/core";
import type { RowStep } from "@svc/program";
import type { ChildStanding, Edit, NewChild, RetriedChild } from "../state/change.ts";
import { isEnd } from "../state/statuses.ts";
import { fillCall } from "./arguments.ts";
import {
  awaited,
  childFault,
  childValue,
  isTight,
  limitsIn,
  mostOf,
  newChild,
  roomOf,
  skillInput,
  uncountChild,
  undoOfChild,
  withinMost,
  withUsed,
} from "./children.ts";
import type { Child, StepEffects } from "./effects.ts";
import type { MapAt, RowEnd, RowWork } from "./map-row.ts";
import type { ChildLimits } from "./shared-limits.ts";

type RunCall = Extract<RowStep, { readonly kind: "run" }>;

/** Result for a row that must wait until another row of the `map` step has ended. The time of that end is unknown, so it is infinite. */
const whenOneEnds: RowEnd = { fullUntilMs: Number.POSITIVE_INFINITY };

/**
 * The child jobs of the rows that a `map` step processes, at most one running child for each row. A child job runs a skill (a program that
 * is used as a tool). It reserves the maximum that the skill may use of the parent job's limits. If less than this maximum is left, a new
 * child waits until no child runs, and then gets what is left.
 */
export class RowChildren {
  readonly #at: MapAt;
  readonly #effects: StepEffects;
  readonly #most: number;
  /**
   * Child jobs that were already running when this part of the `map` step's work began. The key is `<ordinal>/<call>`: the row's number,
   * and the index of the call.
   */
  readonly #open = new Map<string, Child>();
  readonly #begun = new Map<string, NewChild>();
  /**
   * Ended child jobs that the `map` step retries. Each key names the row and the call. `retried`: the child job's id and limits for the
   * retry.
   */
  readonly #takenOn = new Map<string, { readonly ended: Child; readonly retried: RetriedChild }>();
  readonly #ended = new Map<string, Child>();
  readonly #gone = new Set<string>();
  /** How much of the job's limits this part of the `map` step's work has used. A running child job counts with all that it has reserved. */
  readonly used = { toolCalls: 0, writes: 0, rows: 0, asks: 0 };

  constructor(at: MapAt, effects: StepEffects, found: readonly Child[]) {
    this.#at = at;
    this.#effects = effects;
    const { limits } = at.state.loaded.program;
    this.#most = Math.min(at.step.concurrency, limits.concurrency);
    const byId = new Map(found.map((child) => [child.id, child]));
    for (const [place, id] of Object.entries(at.progress.children ?? {})) {
      const child = byId.get(id);
      if (child === undefined) {
        this.#gone.add(place);
        continue;
      }
      const hasEnded = isEnd(child.status);
      (hasEnded ? this.#ended : this.#open).set(place, child);
      this.#hold(hasEnded ? child.used : child.limits);
    }
  }

  /** True if any child job of the rows of this `map` step is running. */
  get hasOpen(): boolean {
    return this.#open.size + this.#newSize > 0;
  }

  get #newSize(): number {
    return this.#begun.size + this.#takenOn.size;
  }

  /**
   * True if a child job has ended or was deleted, and the `map` step has not yet used its result. The row for which the child job was
   * started can then continue.
   */
  get hasEnded(): boolean {
    return this.#ended.size + this.#gone.size > 0;
  }

  /** True if at least one child job was begun or retried for a row in the current step action (unit of a step's work). */
  get hasBegun(): boolean {
    return this.#newSize > 0;
  }

  /** Child jobs that already ran when the current work on the `map` step began. */
  get open(): readonly Child[] {
    return [...this.#open.values()];
  }

  /** Returns the current states of the running child jobs. The `map` step waits until one of these states changes. */
  standings(): readonly ChildStanding[] {
    const begun = this.#newOnes().map(([, id]) => ({ id, standing: "under way" }));
    return [...this.open.map(awaited), ...begun];
  }

  /**
   * Returns the ids of the child jobs that run for rows, in the form in which they are stored in the progress of the map step. Returns an
   * empty object if the step has never begun a child job.
   */
  known(): Pick<MapAt["progress"], "children"> {
    const before = [...this.#open, ...this.#ended].map(([place, { id }]) => [place, id] as const);
    const known = [...before, ...this.#newOnes()];
    if (known.length === 0 && this.#at.progress.children === undefined) return {};
    return { children: Object.fromEntries(known) };
  }

  /**
   * Returns the child jobs that this action of the `map` step started or retries. Each entry has the place of the call that started the
   * child job, and the child job's id. The place is the position of the row, and the number of calls before this one in the row.
   */
  #newOnes(): (readonly [string, Id<"job">])[] {
    const begun = [...this.#begun].map(([place, { id }]) => [place, id] as const);
    return [...begun, ...[...this.#takenOn].map(([place, { ended }]) => [place, ended.id] as const)];
  }

  /**
   * Returns the changes that store the child jobs which were just begun or retried for rows of the map step. Only the step's first child
   * job gets a log entry.
   */
  beginEdits(): Edit[] {
    const [first] = this.#begun.values();
    const isFirst = this.#at.progress.children === undefined;
    const { id: stepId } = this.#at.step;
    const payload = first && { jobId: first.id, toolSlug: first.name, version: first.skill.version };
    return [
      ...[...this.#begun.values()].map((child) => ({ kind: "child", child }) as const),
      ...[...this.#takenOn.values()].flatMap(({ ended, retried }) => [
        ...uncountChild(stepId, ended),
        { kind: "retryChild", child: retried } as const,
      ]),
      ...(payload !== undefined && isFirst
        ? [{ kind: "note", note: { type: "child-started", stepId, payload } } as const]
        : []),
    ];
  }

  /** True if the row's next call has already started a child job. The call's condition was then true and is not evaluated again. */
  has(work: RowWork): boolean {
    const place = placeOf(work);
    if (this.#stoppedAt(work) !== undefined || this.#gone.has(place)) return true;
    return [this.#open, this.#begun, this.#takenOn, this.#ended].some((known) => known.has(place));
  }

  /**
   * Returns the child job that ran for the row's next call and has ended without success, because it failed or its parent job ended.
   * Returns undefined if there is none.
   */
  #stoppedAt(work: RowWork): Id<"job"> | undefined {
    return work.childId ?? this.#at.progress.endedChildren?.[placeOf(work)];
  }

  /**
   * Begins or retries the child job for a row's next call, or takes the result if the child has ended. Returns "on" if the row continues
   * with its next call. Otherwise returns why the row stops for now.
   */
  async run(work: RowWork, call: RunCall): Promise<RowEnd | "on"> {
    const place = placeOf(work);
    const child = this.#ended.get(place);
    if (child !== undefined) return this.#take(work, call, child);
    if (this.#gone.has(place)) {
      work.childId = this.#at.progress.children?.[place];
      return fail(work, childMissing);
    }
    if (this.#open.has(place) || this.#begun.has(place) || this.#takenOn.has(place)) return undefined;
    const stopped = this.#stoppedAt(work);
    return stopped === undefined ? this.#begin(work, call) : this.#takeOn(work, call, stopped);
  }

  #take(work: RowWork, call: RunCall, child: Child): RowEnd | "on" {
    const { state, step } = this.#at;
    this.#ended.delete(placeOf(work));
    work.children.push(child);
    this.#effects.shared?.take(child);
    const undo = undoOfChild(state, child, { stepId: step.id, ordinal: work.ordinal, name: call.skill });
    if (undo !== undefined) work.undo.push(undo);
    const fault = childFault(child, call.skill);
    work.childId = fault === undefined ? undefined : child.id;
    if (fault !== undefined) return fail(work, fault);
    work.outputs[call.id] = childValue(child);
    work.doneCalls++;
    return "on";
  }

  /**
   * Retries a child job (a job that this job started for one row) where it stopped. If that is impossible, a new child job begins. If the
   * child job has made writes, a new one would repeat them, so the row fails.
   */
  async #takeOn(work: RowWork, call: RunCall, id: Id<"job">): Promise<RowEnd | "on"> {
    const { state, progress } = this.#at;
    const [child] = await this.#effects.readChildren(state, [id]);
    work.childId = id;
    if (child === undefined) return fail(work, childMissing);
    if (child.status === "succeeded") {
      // The child job succeeded after its parent job had ended. The calls that the child used, and its undo entry, are already stored with
      // the parent. So only the child's result is taken over now.
      const fault = childFault(child, call.skill);
      if (fault !== undefined) return fail(work, fault);
      work.childId = undefined;
      work.outputs[call.id] = childValue(child);
      work.doneCalls++;
      return "on";
    }
    const why = await this.#effects.whyNotTakenOn(state, id);
    if (why !== undefined && child.used.writes > 0) return fail(work, notTakenOn(call.skill, id, why));
    if (why !== undefined) return this.#begin(work, call);
    const { skill, loaded } = await this.#effects.loadSkill(state, call.skill);
    // There must be no `await` from here until the child's part of the limits is reserved. Otherwise rows that run at the same time could
    // reserve the same part.
    const most = withUsed(mostOf(skill.estimate), child.used);
    const left = withUsed(this.#room(), child.used);
    const full = this.#isFull(left, most);
    if (full !== undefined) return full;
    const { concurrency } = child.limits;
    const limits = limitsIn(withinMost(left, most), loaded.program.limits, concurrency);
    const resendsUnknown = progress.resendsUnknown === true;
    this.#takenOn.set(placeOf(work), { ended: child, retried: { id, limits, resendsUnknown } });
    // The retried child job has already used a part of its limits. The new reservation includes that part. So the part is subtracted from
    // the job's use here. It is counted again when the child ends.
    this.#hold(limits);
    this.#giveBack(child.used);
    this.#effects.shared?.giveBack(child.used);
    this.#effects.shared?.hold(id, limits);
    return undefined;
  }

  /** Returns undefined if a row can begin its child job now. Otherwise returns until when the row must wait. */
  #isFull(room: ChildLimits, most: ChildLimits): RowEnd {
    if (this.#open.size + this.#newSize >= this.#most) return whenOneEnds;
    if (!isTight(room, most)) return undefined;
    if (this.hasOpen) return whenOneEnds;
    const { shared, clock, busyPollMs } = this.#effects;
    return shared?.isHeld ? { fullUntilMs: clock.now() + busyPollMs } : undefined;
  }

  async #begin(work: RowWork, call: RunCall): Promise<RowEnd> {
    const { state, step, progress } = this.#at;
    const scope = { ...state.scope, row: work.row, calls: work.outputs };
    const filled = await fillCall(
      { id: call.id, args: call.input },
      { scope, stepArgs: state.stepArgs },
      this.#effects,
    );
    if ("fault" in filled) return fail(work, filled.fault);
    const skill = await this.#effects.loadSkill(state, call.skill);
    const checked = skillInput(skill.loaded, filled.args);
    if ("fault" in checked) return fail(work, checked.fault);
    // There must be no `await` from here until the child's part of the limits is reserved. Otherwise rows that run at the same time could
    // reserve the same part.
    const { estimate } = skill.skill;
    const room = this.#room();
    const most = mostOf(estimate);
    const full = this.#isFull(room, most);
    if (full !== undefined) return full;
    if (room.toolCalls === 0 && estimate.callsMax > 0) return "toolCalls";
    const { limits } = state.loaded.program;
    const id = createId("job", this.#effects.clock.now());
    const place = { stepId: step.id, ordinal: work.ordinal, callId: call.id };
    const within = withinMost(room, most);
    const concurrency = Math.floor(limits.concurrency / this.#most);
    const child = newChild(
      state,
      { name: call.skill, ...skill },
      { id, place, input: checked.input, limits: limitsIn(within, skill.loaded.program.limits, concurrency) },
    );
    // An earlier child job of this call has ended and cannot continue, so a new child is started. It must not get the idempotency key of
    // the earlier child. So it gets the job's present generation (number of the call round), which is part of the key.
    const before = work.childId === undefined ? progress.generation : undefined;
    this.#begun.set(placeOf(work), { ...child, generation: before ?? state.generation });
    this.#hold(child.limits);
    this.#effects.shared?.hold(id, child.limits);
    return undefined;
  }

  #hold(held: ChildLimits): void {
    for (const name of limitNames) this.used[name] += held[name];
  }

  #giveBack(used: ChildLimits): void {
    for (const name of limitNames) this.used[name] -= used[name];
  }

  /** Returns what new child jobs of this `map` step may still use of each limit. */
  #room(): ChildLimits {
    const { shared } = this.#effects;
    if (shared !== undefined) return shared.room();
    const left = roomOf(this.#at.state);
    const without = (name: keyof ChildLimits) => Math.max(0, left[name] - this.used[name]);
    return { toolCalls: without("toolCalls"), writes: without("writes"), rows: without("rows"), asks: without("asks") };
  }
}

const limitNames = ["toolCalls", "writes", "rows", "asks"] as const;

function placeOf({ ordinal, doneCalls }: RowWork): string {
  return `${ordinal}/${doneCalls}`;
}

const childMissing = { code: "CHILD_MISSING", plain: "the job of the skill does not exist any more" };

function notTakenOn(name: string, id: Id<"job">, why: string): { readonly code: string; readonly plain: string } {
  return { code: "CHILD_NOT_RETRYABLE", plain: `${name} (${id}) has written and ${why}: a retry would write again` };
}

function fail(work: RowWork, { code, plain }: { readonly code: string; readonly plain: string }): undefined {
  work.state = "failed";
  work.fault = { code, message: plain, plain };
}
