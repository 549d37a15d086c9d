/** Milliseconds of the processor that `work` takes on the machine that the budgets of tests are told for. */
const expectedMs = 16;

const rows = Array.from({ length: 20_000 }, (_, n) => ({ id: `row_${n}`, of: [n, n + 1], text: "x".repeat(n % 40) }));

/** What a service does most: texts become objects all over its memory, and texts again. */
function work(): number {
  const before = process.threadCpuUsage();
  JSON.stringify(JSON.parse(JSON.stringify(rows)));
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * A budget of the processor's time on this machine as it is now, milliseconds: what is given, and as much more as a known piece of work takes
 * longer here than where it was told. A machine whose memory is busy with other work counts more for the same instructions; what a
 * budget guards against is far more.
 */
export function processorBudgetMs(ms: number): number {
  const took = Math.min(...[0, 1, 2, 3].map(work));
  return ms * Math.max(1, took / expectedMs);
}
