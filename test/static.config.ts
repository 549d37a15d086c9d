import { defineConfig } from "vitest/config";

/** The tests that read the repository and start nothing. `npm run check` runs them without a database. */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    include: ["test/layers.test.ts", "test/docs.test.ts"],
  },
});
