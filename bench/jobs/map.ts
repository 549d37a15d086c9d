import { startChild } from "../child.ts";
import { type Costs, costsEach, readCosts } from "../costs.ts";
import { withSystem } from "../measure.ts";
import { type Spread, spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";
import type { loopCommands } from "../undici-loop.ts";
import {
  bodyOf,
  callStep,
  type ItemCall,
  itemHeaders,
  type JobsSetting,
  jobServer,
  readCall,
  submission,
  submitJob,
  untilStatus,
  writeCall,
} from "./setting.ts";

/** Rows at a time, which is the largest number a program may ask for. */
const concurrency = 32;

/** Result of one map: its number of rows, and the cost of each. */
export type MapRun = { readonly rows: number; readonly rowsPerSecond: number; readonly costs: Costs };

/** Results of the maps, and of the plain request loops that they are compared with. */
export type MapResults = {
  readonly runs: ReadonlyMap<ItemCall, readonly MapRun[]>;
  /** Requests a second of the plain loop, one value for each round. */
  readonly bare: ReadonlyMap<ItemCall, readonly number[]>;
  /** Maps of reads of growing size, the longest last. */
  readonly sizes: readonly MapRun[];
};

const rowsOfRound = 10_000;
const sizes = [1_000, 10_000, 100_000];

/** Returns the rows of a short run: a third of the seconds means a third of the rows. */
function rowsMax({ settings }: JobsSetting["ctx"], rows: number): number {
  return Math.max(1_000, Math.round(rows * Math.min(1, (settings.seconds ?? 6) / 6)));
}

/** Measures maps of reads and of writes by turns with the plain loop, then maps over growing sets. */
export async function measureMaps(setting: JobsSetting): Promise<MapResults> {
  const { settings } = setting.ctx;
  const isProfile = settings.profileFolder !== undefined;
  const rounds = settings.rounds ?? (isProfile ? 1 : 3);
  const loop = startChild<typeof loopCommands>(new URL("../undici-loop.ts", import.meta.url));
  try {
    return await withSystem(setting.ctx, jobServer(settings, setting.origin), { post: "calendar" }, async (system) => {
      const runs = new Map<ItemCall, MapRun[]>([readCall, writeCall].map((call) => [call, []]));
      const bare = new Map<ItemCall, number[]>([readCall, writeCall].map((call) => [call, []]));
      // Warm-up, so that the code is compiled.
      for (const call of runs.keys()) await mapRows(setting, system, call, 2_000);
      for (let round = 1; round <= rounds; round += 1) {
        for (const [call, found] of runs) {
          setting.ctx.progress(`round ${round} of ${rounds}: a map of ${call.name}s`);
          found.push(await mapRows(setting, system, call, rowsMax(setting.ctx, rowsOfRound)));
          if (!isProfile) bare.get(call)?.push(await loopRate(setting, loop, call));
        }
      }
      return { runs, bare, sizes: isProfile ? [] : await mapSizes(setting, system) };
    });
  } finally {
    await loop.stop();
  }
}

async function mapSizes(setting: JobsSetting, system: System): Promise<MapRun[]> {
  const found: MapRun[] = [];
  const most = rowsMax(setting.ctx, Math.max(...sizes));
  for (const rows of sizes.filter((size) => size <= most)) {
    setting.ctx.progress(`a map of ${rows} reads`);
    found.push(await mapRows(setting, system, readCall, rows));
  }
  return found;
}

/** Runs a job that fetches rows and makes one call for each. The rate is that of the map step in the receipt. */
export async function mapRows(setting: JobsSetting, system: System, call: ItemCall, rows: number): Promise<MapRun> {
  await setting.provider.ask("reset", null);
  const before = await readCosts(setting.ctx, system, setting.provider.pid);
  const { id } = await submitJob(system, mapProgram(call, rows));
  const job = await untilStatus(system, id, "JOB_STATUS_SUCCEEDED", Math.max(50, rows / 100));
  const after = await readCosts(setting.ctx, system, setting.provider.pid);
  const received = await setting.provider.ask("count", null);
  if (received !== rows) throw new Error(`${received} calls reached the app for ${rows} rows`);
  const step = job.stepReceipts?.find(({ stepId }) => stepId === "each");
  const elapsedMs = Date.parse(step?.finishedAt ?? "") - Date.parse(step?.startedAt ?? "");
  return { rows, rowsPerSecond: (rows * 1000) / elapsedMs, costs: costsEach(before, after, rows) };
}

/** Returns a program that fetches rows and makes one call for each. */
export function mapProgram(call: ItemCall, rows: number): { programJson: string } {
  const fetch = {
    id: "list",
    call: "bench_items.list_items",
    entity: "bench",
    args: { list: rows },
    rows: { from: "items[]", key: "id", keep: ["id", "title"], page: { arg: "cursor", from: "nextCursor", max: 1000 } },
  };
  const each = { id: "each", map: "list", concurrency, do: [callStep("one", call, { $ref: "row.id" })] };
  const limits = { rows, toolCalls: rows + 1000, writes: rows, concurrency };
  return submission(`Bench: a map of ${rows} ${call.name}s`, [fetch, each], { limits });
}

function loopRate(
  { origin, ctx }: JobsSetting,
  loop: ReturnType<typeof startChild<typeof loopCommands>>,
  call: ItemCall,
) {
  const { seconds = 4 } = ctx.settings;
  const request = { method: call.method, path: "/items/i1", body: bodyOf(call), headers: itemHeaders };
  return loop.ask("run", { origin, ...request, concurrency, seconds });
}

/** Returns the ratio of a map's rate to that of the plain loop, for each round. */
export function ratioToBare({ runs, bare }: MapResults, call: ItemCall): Spread {
  const rates = bare.get(call) ?? [];
  return spreadOf(
    (runs.get(call) ?? []).map(({ rowsPerSecond }, round) => rowsPerSecond / (rates[round] ?? Number.NaN)),
  );
}
