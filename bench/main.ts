import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { BenchCase, BenchContext, BenchSettings } from "./case.ts";
import { agentdojo } from "./cases/agentdojo.ts";
import { backlog } from "./cases/backlog.ts";
import { beside } from "./cases/beside.ts";
import { call } from "./cases/call.ts";
import { catalog } from "./cases/catalog.ts";
import { delivery } from "./cases/delivery.ts";
import { entities } from "./cases/entities.ts";
import { growth } from "./cases/growth.ts";
import { importBeside } from "./cases/import.ts";
import { ingest } from "./cases/ingest.ts";
import { jobLatency } from "./cases/job-latency.ts";
import { jobs } from "./cases/jobs.ts";
import { latency } from "./cases/latency.ts";
import { nodes } from "./cases/nodes.ts";
import { paces } from "./cases/paces.ts";
import { publish } from "./cases/publish.ts";
import { replay } from "./cases/replay.ts";
import { roles } from "./cases/roles.ts";
import { rows } from "./cases/rows.ts";
import { rpc } from "./cases/rpc.ts";
import { search } from "./cases/search.ts";
import { snapshot } from "./cases/snapshot.ts";
import { standing } from "./cases/standing.ts";
import { startChild } from "./child.ts";
import { installEngines } from "./engines.ts";
import type { loadCommands } from "./load.ts";
import { openBenchPostgres } from "./postgres.ts";
import { summarizeProfiles } from "./profile.ts";
import { checkPlaces, recordInDocs } from "./record.ts";
import { describeMachine, formatReport } from "./report.ts";
import type { sinkCommands } from "./sink.ts";

const cases: readonly BenchCase[] = [
  delivery,
  ingest,
  publish,
  entities,
  paces,
  latency,
  roles,
  backlog,
  rpc,
  catalog,
  search,
  agentdojo,
  call,
  importBeside,
  jobs,
  jobLatency,
  rows,
  growth,
  nodes,
  snapshot,
  replay,
  standing,
];

const help = `Measures the service against peers and limits: one machine, one run, every part a process of its own.

  npm run bench                        all cases
  npm run bench -- delivery            one case; several names or regular expressions may be given
  npm run bench -- --profile delivery  the service alone, under the CPU profiler
  npm run bench -- --beside ../before  this checkout and another in short turns: what a change costs
  npm run bench -- --beside ../before jobs rows   the same for works whose names match
  npm run bench -- --processes 2 Call jobs ingest   works of one process and of two, in short turns

Cases:
${cases.map(({ name, about }) => `  ${name.padEnd(11)} ${about}`).join("\n")}

Options:
  --rounds <n>       rounds of each case (default 3; variants take turns)
  --seconds <n>      seconds of posting in each round (default 6; latency 60, roles 10, snapshot 600, its peers half of that; BENCH_SECONDS sets
                     it too)
  --connections <n>  connections of the load generator (default 64)
  --events <n>       events of the largest store of growth (default 1,000,000; 5,000,000 take 10 GB); of replay, and of the storm and
                     the schedules of standing (default 100,000)
  --post <kind>      calendar (token, no body) or order (HMAC, body of 1 KB); default: the case's own
  --profile          measures the service only and keeps a .cpuprofile of it
  --beside <folder>  another checkout of this project, set up as this one; runs the case "beside" alone
  --processes <n>    runs the case "beside" alone: this checkout with SVC_PROCESSES at 1 against it at n, or, with --beside, both at n
  --gains            judges "beside" by what version 0.2 was to gain over the commit that its work on speed began from, 5bf05440
  --steps <name>     of the case rows those steps alone whose names match; of standing those parts (events, storm, herd, idle); of
                     delivery those variants ("svc" is the service with and without its counters)
  --sets <folder>    public sets of the case search beside its own: livemcpbench and metatool, as their repositories have them; and
                     agentdojo.json of the case agentdojo, as bench/agentdojo/export.py writes it
  --embeddings <url> an OpenAI-compatible embeddings endpoint, such as https://host/v1/embeddings, and
  --model <name>     its model: the case search searches by meaning as well, and tells what either takes; BENCH_EMBEDDINGS_KEY holds
                     the key. It is asked for the texts of some 10,000 tools
  --verbose          lists what missed, where a case knows it
  --statements       starts the store with pg_stat_statements and shows those that took the most time, system by system
  --install-engines  installs DBOS, Restate and workflow (some 500 MB), which cases of jobs compare with, and ends
  --record           writes the results into docs/concepts/benchmarks and docs/benchmarks.md
  --help             this text

BENCH_DATABASE_URL names a PostgreSQL to use (its role must be able to create databases); without it one is started
with the binaries and settings of the service's own store, fsync on.
`;

await main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      seconds: { type: "string" },
      connections: { type: "string" },
      events: { type: "string" },
      post: { type: "string" },
      profile: { type: "boolean" },
      beside: { type: "string" },
      processes: { type: "string" },
      gains: { type: "boolean" },
      steps: { type: "string" },
      sets: { type: "string" },
      embeddings: { type: "string" },
      model: { type: "string" },
      verbose: { type: "boolean" },
      statements: { type: "boolean" },
      "install-engines": { type: "boolean" },
      record: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help) return void process.stdout.write(help);
  if (values["install-engines"]) return installEngines();
  const isBeside = values.beside !== undefined || values.processes !== undefined;
  const chosen = isBeside ? [beside] : chooseCases(positionals);
  const settings: BenchSettings = {
    rounds: positiveNumber("--rounds", values.rounds),
    seconds: positiveNumber("--seconds", values.seconds ?? process.env["BENCH_SECONDS"]),
    connections: positiveNumber("--connections", values.connections) ?? 64,
    events: positiveNumber("--events", values.events),
    post: postOf(values.post),
    besideFolder: values.beside === undefined ? undefined : resolve(values.beside),
    besideWorks: isBeside ? positionals : [],
    processes: positiveNumber("--processes", values.processes),
    areGainsAims: values.gains ?? false,
    steps: values.steps,
    setsFolder: values.sets === undefined ? undefined : resolve(values.sets),
    embeddings: embeddingsOf(values.embeddings, values.model),
    verbose: values.verbose ?? false,
    profileFolder: values.profile ? mkdtempSync(join(tmpdir(), "svc-profile-")) : undefined,
  };
  await runCases(chosen, settings, {
    isRecorded: values.record ?? false,
    isStatementsKept: values.statements ?? false,
  });
  const { profileFolder } = settings;
  if (profileFolder !== undefined) process.stdout.write(`\n${profileFolder}\n\n${summarizeProfiles(profileFolder)}`);
}

type RunOptions = { readonly isRecorded: boolean; readonly isStatementsKept: boolean };

async function runCases(chosen: readonly BenchCase[], settings: BenchSettings, options: RunOptions): Promise<void> {
  const { isRecorded, isStatementsKept } = options;
  if (isRecorded) checkPlaces(chosen.flatMap(({ name, parts }) => parts?.map((part) => `${name}-${part}`) ?? [name]));
  const postgres = await openBenchPostgres(isStatementsKept);
  const load = startChild<typeof loadCommands>(new URL("load.ts", import.meta.url));
  const sink = startChild<typeof sinkCommands>(new URL("sink.ts", import.meta.url));
  const ctx: BenchContext = { postgres, load, sink, settings, isStatementsKept, progress };
  const machine = describeMachine(postgres);
  process.stdout.write(`${machine.join("\n")}\n`);
  try {
    for (const { name, about, run } of chosen) {
      const reports = [await run(ctx)].flat();
      progress("");
      process.stdout.write(`\n## ${name}: ${about}\n`);
      for (const report of reports) {
        const text = formatReport(report);
        process.stdout.write(`\n${text}`);
        if (isRecorded) recordInDocs("part" in report ? `${name}-${report.part}` : name, machine, text);
      }
    }
  } finally {
    await Promise.all([load.stop(), sink.stop()]);
    await postgres.stop();
  }
}

function chooseCases(wanted: readonly string[]): readonly BenchCase[] {
  if (wanted.length === 0) return cases;
  const names = new Set(cases.map(({ name }) => name));
  const isWanted = (name: string, text: string) => (names.has(text) ? text === name : new RegExp(text).test(name));
  const chosen = cases.filter(({ name }) => wanted.some((text) => isWanted(name, text)));
  if (chosen.length === 0)
    fail(`no case is called ${wanted.join(" ")}; there are ${cases.map(({ name }) => name).join(", ")}`);
  return chosen;
}

function positiveNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (!(value > 0)) fail(`${option} is "${text}"; give a number above 0`);
  return value;
}

function embeddingsOf(url: string | undefined, model: string | undefined): BenchSettings["embeddings"] {
  if (url === undefined && model === undefined) return undefined;
  if (url === undefined || !URL.canParse(url)) fail(`--embeddings is "${url ?? ""}"; give the address of the endpoint`);
  if (model === undefined || model === "") fail("--embeddings wants --model, the name of the model to ask for");
  return { url, model, key: process.env["BENCH_EMBEDDINGS_KEY"] ?? "" };
}

function postOf(text: string | undefined): BenchSettings["post"] {
  if (text === undefined || text === "calendar" || text === "order") return text;
  return fail(`--post is "${text}"; give calendar or order`);
}

function fail(message: string): never {
  process.stderr.write(`bench: ${message}\n`);
  process.exit(2);
}

/** Shows the progress: on a terminal as one line that is overwritten, elsewhere as separate lines. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
  else if (text !== "") process.stderr.write(`${text}\n`);
}
