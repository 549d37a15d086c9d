import { createId } from "@svc/core";
import type { RowStep } from "@svc/program";
import type { ChildStanding, Edit, NewChild } from "../state/change.ts";
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
  undoOfChild,
  withinMost,
} from "./children.ts";
import type { Child, StepEffects } from "./effects.ts";
import type { MapAt, RowEnd, RowWork } from "./map-row.ts";
import type { Room } from "./shared-limits.ts";

type RunCall = Extract<RowStep, { readonly kind: "run" }>;

/** A row that would run a skill waits until another of the map has ended. */
const whenOneEnds: RowEnd = { fullUntilMs: Number.POSITIVE_INFINITY };

/**
 * The jobs that the rows of a map run, as many at a time as it has rows at a time. Each reserves of the job's limits what its skill uses
 * at most: where less is left it waits for the others, and is then given what is left.
 */
export class RowChildren {
  readonly #at: MapAt;
  readonly #effects: StepEffects;
  readonly #most: number;
  /** Under way when the act began, and those that it began. By place: `<ordinal>/<call>`. */
  readonly #open = new Map<string, Child>();
  readonly #begun = new Map<string, NewChild>();
  readonly #ended = new Map<string, Child>();
  readonly #gone = new Set<string>();
  /** What children used, or may use, of what the job had left when the act began; the calls of rows count in it. */
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

  /** Whether any is under way. */
  get hasOpen(): boolean {
    return this.#open.size + this.#begun.size > 0;
  }

  /** Whether one has ended, and its row can go on. */
  get hasEnded(): boolean {
    return this.#ended.size + this.#gone.size > 0;
  }

  /** Whether the act began any. */
  get hasBegun(): boolean {
    return this.#begun.size > 0;
  }

  /** Those that were under way when the act began. */
  get open(): readonly Child[] {
    return [...this.#open.values()];
  }

  /** What is looked at until one stands elsewhere. */
  standings(): readonly ChildStanding[] {
    const begun = [...this.#begun.values()].map(({ id }) => ({ id, standing: "under way" }));
    return [...this.open.map(awaited), ...begun];
  }

  /** What the progress says of the children once all rows are stored as far as they are: nothing before the step has begun its first. */
  known(): Pick<MapAt["progress"], "children"> {
    const known = [...this.#open, ...this.#begun, ...this.#ended];
    if (known.length === 0 && this.#at.progress.children === undefined) return {};
    return { children: Object.fromEntries(known.map(([place, { id }]) => [place, id])) };
  }

  /** Stores those that the act began. The log tells of the first of the step alone. */
  beginEdits(): Edit[] {
    const [first] = this.#begun.values();
    const isFirst = this.#at.progress.children === undefined;
    const { id: stepId } = this.#at.step;
    const payload = first && { jobId: first.id, toolSlug: first.name, version: first.skill.version };
    return [
      ...[...this.#begun.values()].map((child) => ({ kind: "child", child }) as const),
      ...(payload !== undefined && isFirst
        ? [{ kind: "note", note: { type: "child-started", stepId, payload } } as const]
        : []),
    ];
  }

  /** Whether a row has a child at the call that is next: then its condition held. */
  has(work: RowWork): boolean {
    const place = placeOf(work);
    return [this.#open, this.#begun, this.#ended].some((known) => known.has(place)) || this.#gone.has(place);
  }

  /** Runs a skill for a row, or takes what it came to; "on" where the row goes on. */
  async run(work: RowWork, call: RunCall): Promise<RowEnd | "on"> {
    const place = placeOf(work);
    const child = this.#ended.get(place);
    if (child !== undefined) return this.#take(work, call, child);
    if (this.#gone.has(place)) return fail(work, { code: "CHILD_MISSING", plain: "the job of the skill is gone" });
    if (this.#open.has(place) || this.#begun.has(place)) return undefined;
    return this.#begin(work, call);
  }

  #take(work: RowWork, call: RunCall, child: Child): RowEnd | "on" {
    const { state, step } = this.#at;
    this.#ended.delete(placeOf(work));
    work.children.push(child);
    this.#effects.shared?.take(child);
    if (child.status !== "succeeded") {
      const fault = childFault(child, call.skill);
      return fail(work, fault);
    }
    const undo = undoOfChild(state, child, { stepId: step.id, ordinal: work.ordinal, name: call.skill });
    if (undo !== undefined) work.undo.push(undo);
    work.outputs[call.id] = childValue(child);
    work.doneCalls++;
    return "on";
  }

  async #begin(work: RowWork, call: RunCall): Promise<RowEnd> {
    const { state, step, progress } = this.#at;
    const scope = { ...state.scope, row: work.row, calls: work.outputs };
    const filled = await fillCall({ id: call.id, args: call.input }, scope, state.stepArgs, this.#effects);
    if ("fault" in filled) return fail(work, filled.fault);
    const skill = await this.#effects.loadSkill(state, call.skill);
    const checked = skillInput(skill.loaded, filled.args);
    if ("fault" in checked) return fail(work, checked.fault);
    // From here on nothing is waited for: of rows side by side each sees what the others took.
    if (this.#open.size + this.#begun.size >= this.#most) return whenOneEnds;
    const { estimate } = skill.skill;
    const { shared, clock, busyPollMs } = this.#effects;
    const room = this.#room();
    const most = mostOf(estimate);
    if (isTight(room, most)) {
      if (this.hasOpen) return whenOneEnds;
      if (shared?.isHeld) return { fullUntilMs: clock.now() + busyPollMs };
    }
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
    this.#begun.set(placeOf(work), { ...child, generation: progress.generation ?? state.generation });
    this.#hold(child.limits);
    shared?.hold(id, child.limits);
    return undefined;
  }

  #hold(held: Room): void {
    for (const name of limitNames) this.used[name] += held[name];
  }

  /** What is left of the job's limits beside what the rows of this act have used, and the children may use. */
  #room(): Room {
    const { shared } = this.#effects;
    if (shared !== undefined) return shared.room();
    const left = roomOf(this.#at.state);
    const without = (name: keyof Room) => Math.max(0, left[name] - this.used[name]);
    return { toolCalls: without("toolCalls"), writes: without("writes"), rows: without("rows"), asks: without("asks") };
  }
}

const limitNames = ["toolCalls", "writes", "rows", "asks"] as const;

function placeOf({ ordinal, doneCalls }: RowWork): string {
  return `${ordinal}/${doneCalls}`;
}

function fail(work: RowWork, { code, plain }: { readonly code: string; readonly plain: string }): undefined {
  work.state = "failed";
  work.fault = { code, message: plain, plain };
}
