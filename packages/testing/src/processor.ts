/**
 * Processor time in milliseconds that the function `work` takes on the reference machine. Tests give their budgets of processor time for
 * that machine.
 */
const expectedMs = 16;

const rows = Array.from({ length: 20_000 }, (_, n) => ({ id: `row_${n}`, of: [n, n + 1], text: "x".repeat(n % 40) }));

/** Measures the speed of this machine: converts a fixed set of rows to JSON and back. Returns the processor time in milliseconds. */
function work(): number {
  const before = process.threadCpuUsage();
  JSON.stringify(JSON.parse(JSON.stringify(rows)));
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Returns a budget of processor time, in milliseconds, for this machine at this moment. `ms`: the budget on the reference machine. The
 * function measures a known piece of work, and multiplies `ms` by how much slower this machine is. So the result is not exact. Tests use it
 * only to detect code that exceeds the budget many times.
 */
export function processorBudgetMs(ms: number): number {
  const took = Math.min(...[0, 1, 2, 3].map(work));
  return ms * Math.max(1, took / expectedMs);
}
