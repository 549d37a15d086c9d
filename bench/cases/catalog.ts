import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { callRequest } from "../call-request.ts";
import type { BenchCase, BenchContext, CaseReport } from "../case.ts";
import { readMemoryMb } from "../jobs/memory.ts";
import { warmUpSeconds, withSystem } from "../measure.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import { formatRate } from "../report.ts";
import { startServer } from "../server.ts";
import { spreadOf } from "../statistics.ts";
import type { System, Variant } from "../system.ts";

const calls = {
  GetTool: callRequest("svc.v1.CatalogService/GetTool", { slug: "calendar.create_event" }),
  ListTools: callRequest("svc.v1.CatalogService/ListTools", { toolkitSlug: "calendar" }),
};
type CallName = keyof typeof calls;

/** The same server with one of two catalog sizes: 610 definitions or 10,000. */
type Size = {
  readonly tools: number;
  readonly variant: Variant;
  readonly readyMs: number[];
  /** Memory of the process after it was idle for a while, in MB. */
  readonly idleMb: number[];
};
type Rates = Record<CallName, number[]>;

const root = fileURLToPath(new URL("../..", import.meta.url));
const toolkitsFolder = join(root, "toolkits");
/** Folder to which `scripts/package.mjs --folder` writes the package. */
const packageFolder = join(root, "dist/package");
const toolsMax = 10_000;

/** Idle time in milliseconds before a process's memory is read. */
const idleMs = 15_000;

/** Measures if reading the catalog becomes slower with more definitions, and how much memory they need. */
export const catalog: BenchCase = {
  name: "catalog",
  about: "GetTool and ListTools with 610 definitions, against 10,000, and the memory of an idle node with each",
  run: async (ctx) => {
    const folder = await mkdtemp(join(tmpdir(), "svc-definitions-"));
    try {
      ctx.progress("writing definitions");
      const total = await multiplyDefinitions(folder);
      const packageMb = await idlePackageMb(ctx);
      const small = sizeOf(610, []);
      const large = sizeOf(total, [folder]);
      const rates = await withSystem(ctx, small.variant, { post: "calendar" }, (first) =>
        withSystem(ctx, large.variant, { post: "calendar" }, async (second) => {
          ctx.progress("idle");
          await delay(idleMs);
          small.idleMb.push(readMemoryMb(first.pid));
          large.idleMb.push(readMemoryMb(second.pid));
          return takeTurns(ctx, [first, second]);
        }),
      );
      return report([small, large], rates, packageMb);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

/**
 * Builds the package, starts the service from it as an operator does, and returns the memory of the idle process in MB. The process is alone
 * on the machine at this time.
 */
async function idlePackageMb(ctx: BenchContext): Promise<number> {
  ctx.progress("building the package");
  const args = ["--no-warnings", join(root, "scripts/package.mjs"), "--folder"];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`the package was not built: ${stderr}`);
  const environment = { SVC_TOOLKITS: "toolkits" };
  const variant: Variant = {
    name: "package",
    start: (setup) => startServer(setup, { subscriptions: [], counts: "events", nodeOptions: [], environment }),
  };
  return withSystem(ctx, variant, { post: "calendar", checkout: packageFolder }, async ({ pid }) => {
    ctx.progress("idle package");
    await delay(idleMs);
    return readMemoryMb(pid);
  });
}

function sizeOf(tools: number, toolkitFolders: readonly string[]): Size {
  const readyMs: number[] = [];
  const start: Variant["start"] = async (setup) => {
    const startedAt = monotonicMicros();
    const system = await startServer(setup, { subscriptions: [], counts: "events", nodeOptions: [], toolkitFolders });
    readyMs.push((monotonicMicros() - startedAt) / 1000);
    return system;
  };
  return { tools, readyMs, idleMb: [], variant: { name: `definitions ${tools}`, start } };
}

/** Copies the real toolkits under other slugs, until there are about 10,000 tools in total. Returns their number. */
async function multiplyDefinitions(folder: string): Promise<number> {
  const found = await readdir(toolkitsFolder, { withFileTypes: true });
  const slugs = found.filter((entry) => entry.isDirectory() && entry.name !== "calendar").map(({ name }) => name);
  slugs.sort();
  let total = 610;
  for (let copy = 1; total < toolsMax; copy += 1) {
    for (const slug of slugs) {
      if (total >= toolsMax) break;
      total += await copyToolkit(slug, join(folder, `${slug}_${copy}`), `${slug}_${copy}`);
    }
  }
  return total;
}

async function copyToolkit(from: string, to: string, slug: string): Promise<number> {
  await mkdir(to);
  const toolkit = await readFile(join(toolkitsFolder, from, "toolkit.yaml"), "utf8");
  await writeFile(join(to, "toolkit.yaml"), toolkit.replace(/^slug: .*$/m, `slug: ${slug}`));
  await cp(join(toolkitsFolder, from, "tools"), join(to, "tools"), { recursive: true });
  return (await readdir(join(to, "tools"))).length;
}

/** Measures both processes and both calls by turns, in several rounds. */
async function takeTurns(ctx: BenchContext, systems: readonly System[]): Promise<readonly Rates[]> {
  const { rounds = 3, seconds = 4 } = ctx.settings;
  const names = Object.keys(calls) as CallName[];
  const rates = systems.map((): Rates => ({ GetTool: [], ListTools: [] }));
  for (const system of systems) for (const name of names) await callsPerSecond(ctx, system, name, warmUpSeconds);
  for (let round = 1; round <= rounds; round += 1) {
    for (const name of names) {
      ctx.progress(`round ${round} of ${rounds}: ${name}`);
      for (const [index, system] of systems.entries()) {
        rates[index]?.[name].push(await callsPerSecond(ctx, system, name, seconds));
      }
    }
  }
  return rates;
}

async function callsPerSecond(ctx: BenchContext, system: System, name: CallName, seconds: number): Promise<number> {
  const { connections } = ctx.settings;
  const request = calls[name];
  const found = await ctx.load.ask("run", { port: system.port, post: { request }, connections, seconds });
  if (found.refused > 0) throw new Error(`${found.refused} calls failed: ${found.firstRefusal}`);
  return (found.accepted * 1e6) / (found.endedAtMicros - found.startedAtMicros);
}

function report(sizes: readonly Size[], rates: readonly Rates[], packageMb: number): CaseReport {
  const [small, large] = rates;
  const ratiosOf = (name: CallName) =>
    (large?.[name] ?? []).map((rate, round) => rate / (small?.[name][round] ?? Number.NaN));
  return {
    columns: ["definitions", "GetTool/s", "ListTools/s", "start to ready", "idle, MB"],
    rows: sizes.map(({ tools, readyMs, idleMb }, index) => [
      tools.toLocaleString("en-US"),
      formatRate(spreadOf(rates[index]?.GetTool ?? [])),
      formatRate(spreadOf(rates[index]?.ListTools ?? [])),
      `${((readyMs[0] ?? Number.NaN) / 1000).toFixed(1)} s`,
      (idleMb[0] ?? Number.NaN).toFixed(0),
    ]),
    figures: [
      ...(Object.keys(calls) as CallName[]).map((name) => ({
        name: `${name}: 10,000 / 610`,
        value: spreadOf(ratiosOf(name)),
        unit: "",
        aim: { atLeast: 0.9 },
      })),
      {
        name: "idle memory of the package, 610 definitions",
        value: spreadOf([packageMb]),
        unit: "MB",
        aim: { below: 150 },
      },
    ],
    notes: [
      `idle: the resident set of the node's process when it has done nothing for ${idleMs / 1_000} s after its start`,
      "the rows of the table run the sources of the checkout; the package has the same code in about twenty files of JavaScript",
      "ListTools reads the 27 tools of one toolkit",
      "the further definitions are copies of the real ones under other slugs",
      "the second process starts while the first is idle; its database is new, so its start includes the migrations",
    ],
  };
}
