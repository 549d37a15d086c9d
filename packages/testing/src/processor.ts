/** Processor time of `work` in milliseconds on the machine for which the budgets of tests are given. */
const expectedMs = 16;

const rows = Array.from({ length: 20_000 }, (_, n) => ({ id: `row_${n}`, of: [n, n + 1], text: "x".repeat(n % 40) }));

/** Does the most frequent work of a service: parses texts to objects in much memory, and writes the objects as texts again. */
function work(): number {
  const before = process.threadCpuUsage();
  JSON.stringify(JSON.parse(JSON.stringify(rows)));
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Returns a budget of processor time for this machine at this moment, in milliseconds. `ms` is the budget on the reference machine; it is
 * multiplied by the factor by which a known piece of work takes longer here. The factor is needed because the same instructions take more
 * time while the machine's memory is busy. The excesses that a budget detects are far larger.
 */
export function processorBudgetMs(ms: number): number {
  const took = Math.min(...[0, 1, 2, 3].map(work));
  return ms * Math.max(1, took / expectedMs);
}
