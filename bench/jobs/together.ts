import { type Costs, costsEach, medianCosts, readCosts } from "../costs.ts";
import { engineNames, engineVariant } from "../engines.ts";
import { withSystem } from "../measure.ts";
import { monotonicMicros } from "../monotonic.ts";
import type { System, Variant } from "../system.ts";
import { runEngine } from "./engine-run.ts";
import { mapRows } from "./map.ts";
import { type JobsSetting, jobServer, readCall } from "./setting.ts";

/** Steps of one workflow. */
export const togetherSteps = 1_000;

/** Results of one system over all rounds: steps a second, and the cost of each. */
export type TogetherResult = { readonly variant: string; readonly rates: readonly number[]; readonly costs: Costs };

type Run = { readonly perSecond: number; readonly costs: Costs };
type Contender = { readonly variant: Variant; run(system: System): Promise<Run> };

/** Workflows before the measured one, so that the code is compiled. */
const warmUps = 3;

/** Measures one workflow of 1,000 reads, 32 at a time: a map in the server, and steps in the engines, by turns. */
export async function measureTogether(setting: JobsSetting): Promise<TogetherResult[]> {
  const { settings, progress } = setting.ctx;
  const { rounds = 3 } = settings;
  const contenders: Contender[] = [
    { variant: jobServer(settings, setting.origin), run: (system) => runMap(setting, system) },
    ...engineNames.map((name) => ({
      variant: engineVariant(name),
      run: (system: System) => runSteps(setting, system),
    })),
  ];
  const found = new Map<Contender, Run[]>(contenders.map((contender) => [contender, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [{ variant, run }, runs] of found) {
      progress(`round ${round} of ${rounds}: ${togetherSteps} steps of ${variant.name}`);
      await withSystem(setting.ctx, variant, { post: "calendar" }, async (system) => {
        for (let index = 0; index < warmUps; index += 1) await run(system);
        // Three runs in each round, because one takes less than a second.
        for (let index = 0; index < 3; index += 1) runs.push(await run(system));
      });
    }
  }
  return [...found].map(([{ variant }, runs]) => ({
    variant: variant.name,
    rates: runs.map(({ perSecond }) => perSecond),
    costs: medianCosts(runs.map(({ costs }) => costs)),
  }));
}

async function runMap(setting: JobsSetting, system: System): Promise<Run> {
  const { rowsPerSecond, costs } = await mapRows(setting, system, readCall, togetherSteps);
  return { perSecond: rowsPerSecond, costs };
}

async function runSteps({ ctx, provider, origin }: JobsSetting, system: System): Promise<Run> {
  await provider.ask("reset", null);
  const before = await readCosts(ctx, system, provider.pid);
  const startedAt = monotonicMicros();
  await runEngine(system, "together", { origin, steps: togetherSteps });
  const endedAt = monotonicMicros();
  const costs = costsEach(before, await readCosts(ctx, system, provider.pid), togetherSteps);
  const received = await provider.ask("count", null);
  if (received !== togetherSteps) throw new Error(`${received} requests reached the app for ${togetherSteps} steps`);
  return { perSecond: (togetherSteps * 1e6) / (endedAt - startedAt), costs };
}
