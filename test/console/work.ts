import { processorBudgetMs } from "@svc/testing/processor";
import { repeats } from "@svc/testing/sample";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Measured time in milliseconds: elapsed time, and processor time, which other work on the machine does not change. */
export type Effort = { clockMs: number; cpuMs: number };

/** True if the elapsed time is judged too, which makes sense only when nothing else runs. */
const isClockJudged = repeats({ sample: false, whole: true });
const judged = isClockJudged ? "clockMs" : "cpuMs";
const tries = 4;

/** Measures how long a page works on an action: elapsed time, and processor time of the page's main thread. */
export async function measureWork(page: Page, act: () => Promise<unknown>): Promise<Effort> {
  const protocol = await page.context().newCDPSession(page);
  await protocol.send("Performance.enable");
  const cpuNow = async () => {
    const { metrics } = await protocol.send("Performance.getMetrics");
    const found = metrics.find(({ name }) => name === "ThreadTime");
    if (found === undefined) throw new Error(`the browser has no ThreadTime: ${metrics.map(({ name }) => name)}`);
    return found.value * 1_000;
  };
  const [cpuBefore, begun] = [await cpuNow(), performance.now()];
  await act();
  const clockMs = performance.now() - begun;
  const cpuMs = (await cpuNow()) - cpuBefore;
  await protocol.detach();
  return { clockMs, cpuMs };
}

/**
 * Measures, up to four times while the result exceeds the budget, and prints both figures with the budget. Fails if the processor time
 * exceeds it; on a quiet machine the elapsed time counts too. A slower machine has a larger budget.
 */
export async function expectWithin(what: string, budgetMs: number, measure: () => Promise<Effort>): Promise<void> {
  const isOver = ({ clockMs, cpuMs }: Effort) =>
    cpuMs > processorBudgetMs(budgetMs) || (isClockJudged && clockMs > processorBudgetMs(budgetMs));
  let best = await measure();
  for (let n = 1; n < tries && isOver(best); n += 1) {
    const next = await measure();
    if (!isOver(next) || next[judged] < best[judged]) best = next;
  }
  const { clockMs, cpuMs } = best;
  const figures = `${clockMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} of the processor, budget ${budgetMs}`;
  process.stdout.write(`console: ${what}: ${figures}\n`);
  expect(cpuMs, `${what}, of the processor`).toBeLessThanOrEqual(processorBudgetMs(budgetMs));
  if (isClockJudged) expect(clockMs, `${what}, by the clock`).toBeLessThanOrEqual(processorBudgetMs(budgetMs));
}
