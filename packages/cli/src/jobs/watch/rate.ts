/** How fast the rows of a step go. Undefined while there is too little to tell from. */
export type Pace = { readonly perSecond: number; readonly leftMs: number | undefined };

/** Measures the pace of the step at work. */
export type PaceMeter = {
  /** Notes how many rows of a step are done at a time, epoch milliseconds; `total` is unknown while rows are still fetched. */
  measure(sample: { stepId: string; atMs: number; done: number; total: number | undefined }): Pace | undefined;
};

/** Older samples say nothing of the pace of now. */
const windowMs = 60_000;

/** Creates a meter. It forgets a step when another follows, or when the same one starts again. */
export function createPaceMeter(): PaceMeter {
  let stepId = "";
  let samples: { readonly atMs: number; readonly done: number }[] = [];
  return {
    measure(sample) {
      const last = samples.at(-1);
      if (sample.stepId !== stepId || (last !== undefined && sample.done < last.done)) samples = [];
      stepId = sample.stepId;
      samples = samples.filter(({ atMs }) => atMs >= sample.atMs - windowMs);
      samples.push({ atMs: sample.atMs, done: sample.done });
      const [first = sample] = samples;
      const elapsedMs = sample.atMs - first.atMs;
      if (elapsedMs <= 0 || sample.done === first.done) return undefined;
      const perMs = (sample.done - first.done) / elapsedMs;
      const left = sample.total === undefined ? undefined : Math.max(0, sample.total - sample.done);
      return { perSecond: perMs * 1000, leftMs: left === undefined ? undefined : left / perMs };
    },
  };
}
