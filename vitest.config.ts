import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// One PostgreSQL for the run (test/global-setup.ts) and one database a test file. The files of a worker share its process and
// what it has imported: to import the service takes longer than most of them.
// `npm run test:crash` and `npm run test:attacks` measure how long it takes until others go on; the samples that `npm test` runs do
// not.
const measuresTime = process.env["SVC_CRASH_ROUNDS"] !== undefined;
const attacksAlone = process.env["SVC_ATTACK_ROUNDS"] !== undefined;
const alone = { sequence: { groupOrder: 1 }, maxWorkers: 1 };
// As many as there are sets of workers that test/crash kills.
const killedAtOnce = measuresTime ? 3 : 1;

export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    pool: "forks",
    isolate: false,
    // Young objects die before they are copied: a tenth less of the processor for the whole run.
    execArgv: ["--max-semi-space-size=64"],
    // One more than processors: a third of a worker's time goes to waiting for servers, stores and leases.
    maxWorkers: Math.max(2, availableParallelism()) + 1,
    projects: [
      { extends: true, test: { name: "unit", include: ["packages/**/*.test.ts"] } },
      {
        extends: true,
        test: { name: "e2e", include: ["test/**/*.test.ts"], exclude: ["test/crash/**", "test/attacks/**"] },
      },
      { extends: true, test: { name: "crash", include: ["test/crash/**/*.test.ts"], ...(measuresTime ? alone : {}) } },
      {
        extends: true,
        test: { name: "attacks", include: ["test/attacks/**/*.test.ts"], ...(attacksAlone ? alone : {}) },
      },
    ],
    // Far beyond what a test takes: they end what hangs, also on a machine with other work.
    maxConcurrency: killedAtOnce,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
