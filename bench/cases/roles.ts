import type { BenchCase, BenchContext, CaseReport, Figure } from "../case.ts";
import { startChild } from "../child.ts";
import { rowsEach, whileMapsRun } from "../jobs/busy.ts";
import { deliveringJobServer } from "../jobs/setting.ts";
import { callSteadily, postSteadily, type SteadyCalls, type SteadyPosts } from "../jobs/steady.ts";
import { loopCells, loopColumns } from "../loops.ts";
import { warmUpSeconds, withSystem } from "../measure.ts";
import type { providerCommands } from "../provider.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";

/** Posts, and then calls, a second. The rate is so low that a server without jobs has no queue. */
const ratePerSecond = 300;
const mapsBeside = 64;

/** A way to start the server. `processes`: number of its processes. Two processes have one role each: requests, and jobs that map rows. */
type Setup = {
  readonly name: string;
  readonly processes: number;
  readonly environment: Readonly<Record<string, string>>;
};

const setups: readonly Setup[] = [
  { name: "one process", processes: 1, environment: {} },
  { name: "two roles", processes: 2, environment: { SVC_PROCESS_ROLES: "on" } },
];

type Round = { readonly posts: SteadyPosts; readonly calls: SteadyCalls };
type Result = { readonly setup: Setup; readonly rounds: Round[] };

/** Latency of posts and calls while 64 jobs map rows: with one process, and with two processes of different roles. */
export const roles: BenchCase = {
  name: "roles",
  about: "p50 and p99 of posts and of calls beside 64 maps, with one process and with two of different roles",
  run: async (ctx) => {
    const { rounds = 3, seconds = 10, post = "calendar" } = ctx.settings;
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    const results = setups.map((setup): Result => ({ setup, rounds: [] }));
    try {
      const origin = `http://127.0.0.1:${await provider.ask("port", null)}`;
      for (let round = 1; round <= rounds; round += 1) {
        for (const { setup, rounds: found } of results) {
          ctx.progress(`round ${round} of ${rounds}: ${setup.name}`);
          const variant = deliveringJobServer(ctx.settings, origin, setup);
          const { processes } = setup;
          found.push(
            await withSystem(ctx, variant, { post, processes }, (system) => measureBeside(ctx, system, seconds)),
          );
        }
      }
      return report(results, seconds);
    } finally {
      await provider.stop();
    }
  },
};

async function measureBeside(ctx: BenchContext, system: System, seconds: number): Promise<Round> {
  const { post = "calendar" } = ctx.settings;
  await postSteadily(ctx, system, { post, ratePerSecond, seconds: warmUpSeconds });
  await callSteadily(ctx, system, { ratePerSecond, seconds: warmUpSeconds });
  return whileMapsRun(system, mapsBeside, async () => ({
    posts: await postSteadily(ctx, system, { post, ratePerSecond, seconds }),
    calls: await callSteadily(ctx, system, { ratePerSecond, seconds }),
  }));
}

/** The kinds of requests that the case times, with the largest p99 in milliseconds that two roles should have. */
const kinds = [
  { name: "post to 202", p99Max: 50, of: ({ posts }: Round) => ({ latency: posts.answers, loops: posts.loops }) },
  { name: "CallTool, a read", p99Max: 80, of: ({ calls }: Round) => calls },
] as const;

function report(results: readonly Result[], seconds: number): CaseReport {
  const measured = results.flatMap(({ setup, rounds }) =>
    kinds.map((kind) => ({ setup, kind, found: rounds.map(kind.of) })),
  );
  const msOf = (values: readonly number[]) => `${spreadOf(values).median.toFixed(1)} ms`;
  return {
    columns: ["beside 64 maps", "processes", "p50", "p99", "p99 of each round", ...loopColumns],
    rows: measured.map(({ setup, kind, found }) => [
      kind.name,
      setup.name,
      msOf(found.map(({ latency }) => latency.p50)),
      msOf(found.map(({ latency }) => latency.p99)),
      found.map(({ latency }) => latency.p99.toFixed(1)).join(", "),
      ...loopCells(found.at(-1)?.loops ?? []),
    ]),
    figures: measured.flatMap(({ setup, kind, found }): Figure[] => {
      const value = spreadOf(found.map(({ latency }) => latency.p99));
      const name = `${kind.name}, ${setup.name}, p99`;
      return setup.processes === 1 ? [] : [{ name, value, unit: "ms", aim: { below: kind.p99Max } }];
    }),
    notes: [
      `open loop: ${ratePerSecond} posts and then ${ratePerSecond} calls a second, each timed from the moment it was due, for ${seconds} s`,
      `jobs: ${mapsBeside} under way all the time, each a map of ${rowsEach.toLocaleString("en-US")} reads; they take the processor time that is left`,
      "two roles: SVC_PROCESSES=2 SVC_PROCESS_ROLES=on; its loops are those of the supervisor, of the process that takes requests and of the one that maps",
      "loops are those of the last round",
    ],
  };
}
