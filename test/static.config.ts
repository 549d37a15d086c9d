import { defineConfig } from "vitest/config";

/** The tests that only read the repository and start nothing. `npm run check` runs them without a database. */
export default defineConfig({
  test: {
    // One process is used, so that the command line is imported once.
    isolate: false,
    maxWorkers: 1,
    testTimeout: 30_000,
    include: [
      "test/layers.test.ts",
      "test/foreign-bytes.test.ts",
      "test/docs.test.ts",
      "test/commands.test.ts",
      "test/samples.test.ts",
    ],
  },
});
