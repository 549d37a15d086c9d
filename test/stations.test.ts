import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "./source.ts";

type Trace = { readonly status: string; readonly stations: readonly { readonly file: string }[] };

/** Number of returns in version 0.1, counted by the same script (docs/concepts/way-of-a-job.md). */
const before = 467;
/** Allowance for the extra work slices on a busy machine. */
const slack = 20;
/** Returns added by rules that version 0.1 did not have: confirmations by a person (12), keys of rows (6) and exact numbers (4). */
const ruled = 22;
/** Returns added by merging files in 0.2 (71 became 62). Each file less counts as one more return, although fewer files are visited. */
const merged = 9;
/**
 * Returns added later in 0.2: the account passed on to the plan, SQL texts by shape, answers in slices, reads of maps that a simulation does
 * not send, the titles of steps, and calls that wait for the acceptance of a changed tool.
 */
const added = 14;

test("a run returns to the files that it had left at most a third as often as it did in version 0.1", {
  retry: 2,
}, async () => {
  const args = [join(root, "scripts/trace-run.mjs"), "--json", join(root, "docs/examples/ask-before-writing.json")];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 });
  const { status, stations }: Trace = JSON.parse(stdout);
  expect(status).toBe("JOB_STATUS_SUCCEEDED");
  const files = new Set(stations.map(({ file }) => file));
  expect(files.size).toBeGreaterThan(40);
  expect(stations.length - files.size).toBeLessThanOrEqual(before / 3 + ruled + merged + added + slack);
});
