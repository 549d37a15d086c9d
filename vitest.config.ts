import { availableParallelism } from "node:os";
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { SkippedConsoleTests } from "./test/console/skipped-reporter.ts";

// One PostgreSQL for the run (test/global-setup.ts) and one database a test file. The files of a worker share its process and
// what it has imported: to import the service takes longer than most of them. So there are no projects either, each of which would
// have workers of its own.
// `npm run test:crash` and `npm run test:attacks` measure by the clock, how long it takes until others go on and until a page of the
// console stands; the samples that `npm test` runs do not. `npm run test:rest` counts how a run goes from file to file, and work that is
// sliced by the clock adds to that count beside other tests.
const measured = [
  ...(process.env["SVC_TEST_REST"] === undefined ? [] : ["test/stations.test.ts"]),
  ...(process.env["SVC_CRASH_ROUNDS"] === undefined
    ? []
    : ["test/crash/**/*.test.ts", "test/console/{load,page-times}.test.ts"]),
  ...(process.env["SVC_ATTACK_ROUNDS"] === undefined ? [] : ["test/attacks/**/*.test.ts"]),
];
const named = (folder: string, ...names: string[]) => names.map((name) => `${folder}/${name}.test.ts`);

/**
 * Tests that `npm test` leaves to `npm run test:rest`, which CI runs too: most of the console, recorded histories, lists of many rows, guides
 * that run as they are printed, long properties, hooks, replays, waits, bounds of the portal, every command as a process, backups, deaths,
 * all example questions of the documentation, and attacks and MCP tasks that start several processes. Without them `npm test` takes less than four minutes on two processors.
 */
const rest = [
  ...named(
    "test/console/journeys",
    "accounts",
    "administration",
    "agents",
    "deceit",
    "getting-in",
    "habits",
    "jobs",
    "links",
    "list-states",
    "live",
    "portal",
    "portal-frame",
    "presses",
    "private-webhooks",
    "schedules",
    "settings",
    "subscriptions",
    "tools",
    "triggers",
    "urls",
  ),
  ...named("test/console", "layout", "overview", "pages", "readme-pictures"),
  ...named(
    "test",
    "allocation",
    "command-line",
    "conformance/paging",
    "conformance/requests",
    "sdk-package",
    "authorization/waiting",
    "cells",
    "confirm-attacks",
    "confirm-model",
    "confirm-properties",
    "crash/jobs-nodes",
    "crash/kill",
    "crash/mcp-writes",
    "crash/operational-events",
    "crash/own-events",
    "crash/patroni",
    "drill",
    "fields/calls",
    "fields/definitions",
    "fields/programs",
    "generated-client",
    "golden/commands",
    "guides",
    "hooks",
    "jobs/answers",
    "jobs/approval-properties",
    "jobs/attack",
    "jobs/examples",
    "jobs/guides",
    "jobs/privacy",
    "jobs/row-examples",
    "jobs/tutorial",
    "jobs/wait",
    "mcp/conformance",
    "mcp/task-restart",
    "mcp/tasks",
    "container",
    "npm-package",
    "operations",
    "portal-limits",
    "processes",
    "readme",
    "restored",
    "serve",
    "site/site",
    "stations",
    "stats",
    "toolkits-guide",
    "tools/hostile",
    "tools/providers",
    "tools/shutdown",
  ),
  ...named("test/attacks", "audience", "leaks", "log", "quotas"),
  ...named("test", "conformance/sandbox", "recorded/database", "recorded/histories", "tools/every-tool"),
  ...named("packages/db/src", "embedded/backup/backup", "embedded/backup/restore", "erasures/small-project"),
  "packages/site/src/build/every-question.test.ts",
  ...named("packages/db/src", "driver", "embedded/postgres", "lists-of-jobs", "narrowed-lists", "walked-lists"),
  ...named("packages/jobs/src/drive", "crash", "map-crash", "run-crash"),
  ...named(
    "packages/cli/src",
    "command/unreachable",
    "custom/toolkits/webhook-examples",
    "custom/erase",
    "custom/jobs/watch",
    "custom/stats",
  ),
  ...named("packages", "console/src/pages/jobs/job-log", "connections/src/network-transport", "db/src/lists"),
  ...named(
    "packages",
    "jobs/src/api/wait",
    "jobs/src/drive/poison",
    "jobs/src/drive/run/loop",
    "program/src/program-properties",
    "standing/src/polls",
    "standing/src/events",
    "standing/src/schedule/schedule",
    "standing/src/standing",
    "standing/src/turns",
    "triggers/src/agents/subscribe",
    "triggers/src/own/document",
    "triggers/src/replays/replays",
    "tools/src/embeddings/find-tools",
  ),
  ...named("packages/server/src", "admin/restores", "listen/refusal-pace", "moves/move-project", "vault/vault"),
];

/** Floods, of which only a machine with nothing else to do can say what they cost others. `npm run test:attacks` runs them. */
const floods = named(
  "test/attacks",
  ...["arguments", "bodies", "call-limits", "connections", "expressions", "fairness", "floods", "poison"],
);

/** Deaths that take several processes and a minute, and pages by the clock. `npm run test:crash` and `npm run test:console` run them. */
const deaths = [
  ...named(
    "test/crash",
    "failover",
    "jobs-points",
    "jobs-postgres",
    "polls",
    "replay",
    "standing",
    "standing-postgres",
  ),
  ...named("test/console", "load", "page-times"),
  // The scenarios of the suite for clients run at the same time, and take minutes if the machine has other work.
  ...named("test/mcp", "client-conformance"),
];

const isRest = process.env["SVC_TEST_REST"] !== undefined;
const include = isRest ? rest : ["packages/**/*.test.ts", "test/**/*.test.ts"];

/** Empty if files are named: those run. */
const leftOut = process.argv.some((argument) => argument.endsWith(".test.ts"))
  ? []
  : [
      ...(process.env["SVC_ATTACK_ROUNDS"] === undefined ? floods : []),
      ...(process.env["SVC_CRASH_ROUNDS"] === undefined ? [...deaths, ...(isRest ? [] : rest)] : []),
    ];

/** Files of packages that take more than ten seconds; vitest goes by the size of a file where it has no earlier run to go by. */
const long = [
  "packages/asks/src/settle.test.ts",
  "packages/cli/src/command/unreachable.test.ts",
  "packages/db/src/embedded/postgres.test.ts",
  "packages/jobs/src/drive/crash.test.ts",
  "packages/jobs/src/drive/map-crash.test.ts",
  "packages/jobs/src/drive/schedule/pause.test.ts",
  "packages/jobs/src/drive/poison.test.ts",
  "packages/jobs/src/drive/run/retry.test.ts",
  "packages/jobs/src/drive/run-crash.test.ts",
  "packages/standing/src/polls.test.ts",
  "packages/tools/src/limits/pacer.test.ts",
];

/** The longest of all, the longest first: one of them alone at the end would leave a processor idle for as long as it takes. */
const longest = [
  "test/crash/patroni.test.ts",
  "test/operations.test.ts",
  "test/console/journeys/list-states.test.ts",
  "test/console/journeys/urls.test.ts",
  "test/guides.test.ts",
  "test/jobs/guides.test.ts",
  "test/processes.test.ts",
  "packages/db/src/embedded/backup/restore.test.ts",
  "test/serve.test.ts",
  "test/golden/commands.test.ts",
  "packages/db/plans/plans.test.ts",
  "packages/server/src/vault/vault.test.ts",
  "test/console/journeys/deceit.test.ts",
  "test/crash/kill.test.ts",
  "test/command-line.test.ts",
];

/**
 * Begins with the longest, then with what crosses packages or is long: those files wait for processes, and one of them alone at the end
 * leaves a processor idle.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
      if (place >= 0) return place;
      const isLong = !moduleId.includes("/packages/") || long.some((path) => moduleId.endsWith(`/${path}`));
      return longest.length + (isLong ? 0 : 1);
    };
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

// As many as there are sets of workers that test/crash kills.
const killedAtOnce = process.env["SVC_CRASH_ROUNDS"] === undefined ? undefined : 5;

const besideOthers: TestProjectInlineConfiguration = {
  extends: true,
  test: { name: "beside others", include, exclude: [...configDefaults.exclude, ...leftOut, ...measured] },
};
const alone: TestProjectInlineConfiguration = {
  extends: true,
  test: { name: "alone", include: measured, sequence: { groupOrder: 1 }, maxWorkers: 1 },
};

export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    reporters: ["default", new SkippedConsoleTests()],
    pool: "forks",
    // Node runs the sources as they are, as the service does: nothing here needs modules to be transformed or mocked.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    isolate: false,
    // Young objects die before they are copied, and what all files share is not marked again and again while it is loaded: more than a
    // tenth less of the processor for the whole run.
    execArgv: [
      `--import=${import.meta.dirname}/test/resolve-once.mjs`,
      "--min-semi-space-size=32",
      "--max-semi-space-size=64",
      "--initial-heap-size=512",
    ],
    // One more than processors: a part of each worker's time goes to waiting for servers, stores and leases. With two more the whole takes
    // longer, where memory is what all wait for.
    maxWorkers: Math.max(2, availableParallelism()) + 1,
    sequence: { sequencer: LongestFirst },
    ...(measured.length === 0
      ? { include, exclude: [...configDefaults.exclude, ...leftOut] }
      : { projects: [besideOthers, alone] }),
    ...(killedAtOnce !== undefined && { maxConcurrency: killedAtOnce }),
    // Far beyond what a test takes: they end what hangs, also on a machine with other work. Properties run whole take up to 10 s of a
    // processor, and beside all that is killed there a minute was once too short.
    // A page of the console takes most of a minute on a slow machine.
    testTimeout: killedAtOnce !== undefined ? 300_000 : isRest ? 180_000 : 120_000,
    hookTimeout: 120_000,
  },
});
