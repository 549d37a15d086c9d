import type { Change, Edit, Next } from "../state/change.ts";
import type { ProgressOf } from "../state/progress.ts";
import type { SetChunk, StepEffects } from "./effects.ts";
import { passingBytesMax, SetMemory } from "./set-memory.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

type ChunkedKind = "filter" | "compute" | "reduce";

/** Result of processing one chunk (group of consecutive rows): the changes to job state (edits), or the failure at one of the rows. */
export type MadeOfChunk =
  | { readonly failed: Next }
  | {
      readonly edits: readonly Edit[];
      /**
       * Number of rows of the chunk (group of consecutive rows) that the step has processed. If processing is slow, the job's next part of
       * work reads the remaining rows of the chunk again.
       */
      readonly looked: number;
      /**
       * Values that the next step action (part of the step's work) needs to continue this step, for example running totals. Absent if it
       * needs none.
       */
      readonly kept?: Omit<ProgressOf<"reduce">, "kind" | "stepId" | "next">;
    };

/**
 * The part of a step kind that processes one chunk (group of consecutive rows) of a set (list of rows). It is called once in each step
 * action (the work between two commits).
 */
type Chunked<Kind extends ChunkedKind> = {
  make(at: StepAt<Kind>, chunk: SetChunk, effects: StepEffects): Promise<MadeOfChunk>;
};

/**
 * Returns the function that runs a step which processes rows in chunks (groups of consecutive rows). Each call processes one chunk, or only
 * a part of it if its rows are slow.
 */
export function byChunk<Kind extends ChunkedKind>(chunked: Chunked<Kind>): StepKind<Kind>["advance"] {
  return (at, effects) => advanceByChunk(at, effects, chunked);
}

/**
 * Runs one step action (unit of work) on one chunk (a group of consecutive rows). `given`: the rows of the chunk, if they were already read
 * while the action waited for memory. Returns the change that the action makes.
 */
async function advanceByChunk<Kind extends ChunkedKind>(
  at: StepAt<Kind>,
  effects: StepEffects,
  chunked: Chunked<Kind>,
  given?: SetChunk,
): Promise<Change> {
  const { state, step, instruction, progress } = at;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const { source: setId, states } = step;
  const done: ProgressOf<ChunkedKind> | undefined = progress;
  const range = { setId, states, fromOrdinal: done?.next ?? 0, withData: needsFields(step) };
  const chunk = given ?? (await effects.readChunk(state, range));
  const { rows, next, bytes } = chunk;
  if (given === undefined && bytes > passingBytesMax) {
    const act = () => advanceByChunk(at, effects, chunked, chunk);
    return SetMemory.whilePassing(at, effects, { bytes, begun, act });
  }
  const made = await chunked.make(at, chunk, effects);
  if ("failed" in made) return { edits: begun, next: made.failed };
  const from = made.looked === rows.length ? next : rows[made.looked]?.ordinal;
  if (from === undefined) {
    const finish: Edit = { kind: "finish", stepId: step.id, state: "completed", to: instruction.next };
    return { edits: [...begun, ...made.edits, finish], next: { kind: "on" } };
  }
  return {
    edits: [
      ...begun,
      ...made.edits,
      { kind: "progress", progress: { kind: step.kind, stepId: step.id, next: from, ...made.kept } },
      { kind: "logProgress", stepId: step.id },
    ],
    next: { kind: "commit" },
  };
}

/** True if the step reads the fields of rows. False if it only counts rows, whose fields then need not be decrypted. */
function needsFields(step: StepAt<ChunkedKind>["step"]): boolean {
  return step.kind !== "reduce" || step.as.some(([, { kind }]) => kind !== "count");
}
