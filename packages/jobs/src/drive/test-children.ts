import type { Id } from "@svc/core";
import { type PinnedSkill, type Program, parseCheckedProgram } from "@svc/program";
import { newJobDocuments } from "@svc/testing/job-documents";
import type { WorkingJob } from "../state/apply.ts";
import type { NewChild } from "../state/change.ts";
import { noCalls, noUse } from "../state/counts.ts";
import { flatten } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import { isEnd } from "../state/statuses.ts";
import type { Child, LoadedSkill } from "../steps/effects.ts";
import { stepKinds } from "../steps/index.ts";

// Child jobs in memory, for tests of the engine. Each child makes one write and then one read. If the read fails, the child has failed, and
// a retry continues at the read.

/** For tests: how a child job ends when its parent starts it again. */
export type ChildEnd = "succeeded" | "failed" | "failed before it wrote" | "failed for good";

type MemoryChild = { child: Child; readonly place: string; hasWritten: boolean; isForGood: boolean };

const skill: PinnedSkill = {
  slug: "late",
  version: 1,
  digest: "",
  estimate: { ...newJobDocuments.estimate, callsMin: 2, callsMax: 2, writesMax: 1 },
};

/** The skills that the programs of these tests can run. */
export const memorySkills: JobState["loaded"]["skills"] = { "skills.late": skill };

/**
 * For tests: creates the functions that read and start child jobs, with child jobs in memory only. `endOf`: chooses how the next child job
 * ends.
 */
export function createMemoryChildren(endOf: () => ChildEnd) {
  const program: Program = parseCheckedProgram(
    JSON.stringify({ version: 1, title: "Late", steps: [{ id: "pause", wait: "1s" }] }),
  );
  const children = new Map<Id<"job">, MemoryChild>();
  const places = new Set<string>();
  /** Number of writes that child jobs have made, by the place of the parent's call (step, row and call) that started them. */
  const written = new Map<string, number>();

  const begin = ({ id, place: { stepId, ordinal, callId }, generation, limits }: NewChild) => {
    const place = [stepId, ordinal, callId].join("/");
    const key = `${place}/${generation}`;
    if (places.has(key)) throw new Error(`${key} has a job already`);
    places.add(key);
    const rest = { parkReason: "", isClockStopped: false, isCancelRequested: false, outcome: "", resultJson: "" };
    const child: Child = {
      ...{ ...rest, id, status: "running", used: noUse, limits, calls: undefined, lastError: "" },
      ...{ outcome: "", isUndoable: false },
    };
    children.set(id, { child, place, hasWritten: false, isForGood: false });
  };
  const change = (one: MemoryChild, changes: Partial<Child>) => {
    one.child = { ...one.child, ...changes };
  };
  const use = (one: MemoryChild, calls: { readonly reads: number; readonly writes: number }) => {
    const { used, calls: made = noCalls } = one.child;
    change(one, {
      used: { ...used, toolCalls: used.toolCalls + calls.reads + calls.writes, writes: used.writes + calls.writes },
      calls: { ...made, read: made.read + calls.reads, write: made.write + calls.writes },
    });
  };
  const end = (one: MemoryChild) => {
    if (one.child.isCancelRequested) return change(one, { status: "cancelled", calls: one.child.calls ?? noCalls });
    const ended = endOf();
    if (ended === "failed before it wrote" && !one.hasWritten) {
      return change(one, { status: "failed", calls: one.child.calls ?? noCalls });
    }
    use(one, { reads: 1, writes: one.hasWritten ? 0 : 1 });
    if (!one.hasWritten) written.set(one.place, (written.get(one.place) ?? 0) + 1);
    one.hasWritten = true;
    one.isForGood ||= ended === "failed for good";
    const hasSucceeded = ended === "succeeded" || (ended === "failed before it wrote" && one.hasWritten);
    change(one, hasSucceeded ? { status: "succeeded", outcome: "complete", resultJson: "{}" } : { status: "failed" });
  };
  const why = (id: Id<"job">) => (children.get(id)?.isForGood === true ? "has begun to undo what it did" : undefined);
  return {
    written,
    /** Stores the child jobs that a commit begins or retries. */
    store({ pending }: WorkingJob): void {
      for (const child of pending.children) begin(child);
      for (const { id, limits } of pending.retried) {
        const one = children.get(id);
        if (one === undefined || !isEnd(one.child.status)) throw new Error(`${id} has not ended`);
        if (why(id) === undefined) change(one, { status: "running", limits, isCancelRequested: false });
      }
    },
    /** Ends all child jobs of this test that are running. A child job is a job that a step of another job starts. */
    end(): void {
      for (const one of children.values()) if (!isEnd(one.child.status)) end(one);
    },
    cancel(ids: readonly Id<"job">[]): void {
      for (const id of ids) {
        const one = children.get(id);
        if (one !== undefined) change(one, { isCancelRequested: true });
      }
    },
    why,
    /** Returns the reason why each ended child cannot be continued. */
    faults: (): ReadonlyMap<Id<"job">, string | undefined> => new Map([...children.keys()].map((id) => [id, why(id)])),
    read: (ids: readonly Id<"job">[]): readonly Child[] =>
      ids.flatMap((id) => {
        const child = children.get(id)?.child;
        return child === undefined ? [] : [child];
      }),
    load: (): LoadedSkill => ({
      skill,
      loaded: {
        program,
        programHash: "",
        flow: flatten(program.steps, stepKinds),
        tools: new Map(),
        skills: {},
        hasSensitive: false,
        isOld: false,
      },
    }),
  };
}
