import type { Job, JobStep, StepReceipt } from "@svc/gen/jobs";

/** One job's part of a pair of steps. `errors`: the sentences of the step's errors. */
type StepSide = {
  readonly step: JobStep;
  readonly receipt: StepReceipt | undefined;
  readonly errors: readonly string[];
};

/** A step of two jobs, by its id. A side is undefined if the job's program has no such step. */
export type StepPair = {
  readonly stepId: string;
  readonly mine: StepSide | undefined;
  readonly theirs: StepSide | undefined;
};

type Run = { readonly job: Pick<Job, "stepReceipts">; readonly steps: readonly JobStep[] };

/** Returns the steps of two jobs, aligned by id: in the order of the first job, then the steps that only the second job has. */
export function alignedSteps(mine: Run, theirs: Run): readonly StepPair[] {
  const [ofMine, ofTheirs] = [sidesOf(mine), sidesOf(theirs)];
  const ids = new Set([...ofMine.keys(), ...ofTheirs.keys()]);
  return [...ids].map((stepId) => ({ stepId, mine: ofMine.get(stepId), theirs: ofTheirs.get(stepId) }));
}

function sidesOf({ job, steps }: Run): ReadonlyMap<string, StepSide> {
  const receipts = new Map(job.stepReceipts.map((receipt) => [receipt.stepId, receipt]));
  return new Map(
    steps.map((step) => {
      const receipt = receipts.get(step.stepId);
      const errors = (receipt?.errors ?? []).map(({ failure, sample }) => failure?.title ?? sample);
      return [step.stepId, { step, receipt, errors }];
    }),
  );
}

/** Returns a sentence for each tool that both jobs called in different versions. */
export function changedTools(mine: Pick<Job, "stepReceipts">, theirs: Pick<Job, "stepReceipts">): readonly string[] {
  const known = new Map(theirs.stepReceipts.map(({ toolSlug, toolVersion }) => [toolSlug, toolVersion]));
  const changed = mine.stepReceipts.flatMap(({ toolSlug, toolVersion }) => {
    const other = known.get(toolSlug);
    if (toolSlug === "" || other === undefined || other === toolVersion) return [];
    return [`${toolSlug}: version ${toolVersion} here, ${other} in the other job`];
  });
  return [...new Set(changed)];
}

/** A line that only one of two texts has. `+`: only the first text has it. `-`: only the second. */
type LineChange = { readonly id: number; readonly sign: "+" | "-"; readonly line: string };

/** Maximum number of lines of a text that are compared. */
const linesMax = 600;

/** Returns the lines in which two JSON texts differ, in their order. Both texts are formatted first. */
export function lineChanges(mine: string, theirs: string): readonly LineChange[] {
  const [a, b] = [linesOf(mine), linesOf(theirs)];
  // lengths[i][j]: length of the longest common part of the lines from i in the first text and from j in the second.
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    const row = lengths[i];
    if (row === undefined) continue;
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const changes: LineChange[] = [];
  const add = (sign: "+" | "-", line = "") => changes.push({ id: changes.length, sign, line });
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) add("+", a[i++]);
    else add("-", b[j++]);
  }
  return changes;
}

function linesOf(text: string): readonly string[] {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2).split("\n").slice(0, linesMax);
  } catch {
    return text.split("\n").slice(0, linesMax);
  }
}
