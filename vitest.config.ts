import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// One PostgreSQL for the run (test/global-setup.ts) and one database a test file. Each file has a process of its own.
export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    pool: "forks",
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      { extends: true, test: { name: "unit", include: ["packages/**/*.test.ts"] } },
      { extends: true, test: { name: "e2e", include: ["test/**/*.test.ts"], exclude: ["test/crash/**"] } },
      // Last and alone: these tests measure time and kill processes.
      {
        extends: true,
        test: { name: "crash", include: ["test/crash/**/*.test.ts"], sequence: { groupOrder: 1 }, maxWorkers: 1 },
      },
    ],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
