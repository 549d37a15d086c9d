// node scripts/count-tests.mjs <exit status of the checks> <folder with NAME.json, vitest's report, and NAME.status, its exit status>
// Prints "N passed, N failed" as the last line of .ci/run and exits 1 unless something passed and nothing failed. Names before it the
// tests that passed only when they were run again.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const [checkStatus, folder] = process.argv.slice(2);

/** Counts the tests of a run; a file that could not be loaded, and a run that failed without a failed test, count as one failure each. */
function countTests(name) {
  const status = readFileSync(join(folder, `${name}.status`), "utf8").trim();
  let report;
  try {
    report = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
  } catch {
    return { passed: 0, failed: 1, again: [] };
  }
  const broken = report.testResults.filter(
    (result) => result.status === "failed" && !result.assertionResults.some((test) => test.status === "failed"),
  );
  const failed = report.numFailedTests + broken.length;
  const passed = report.numPassedTests;
  return {
    passed,
    failed: failed === 0 && (status !== "0" || passed === 0) ? 1 : failed,
    again: passedAgain(report),
  };
}

/** A line for each test that passed though it had failed before. */
function passedAgain(report) {
  return report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0)
      .map(({ fullName, failureMessages }) => {
        const [reason = ""] = failureMessages[0].split("\n");
        return `passed only when it was run again: ${relative(process.cwd(), name)}: ${fullName}: ${reason.slice(0, 300)}`;
      }),
  );
}

const runs = readdirSync(folder)
  .filter((file) => file.endsWith(".status"))
  .map((file) => countTests(file.slice(0, -".status".length)));
const sum = (of) => runs.reduce((total, run) => total + of(run), 0);
const isChecked = checkStatus === "0";
const passed = sum((run) => run.passed) + (isChecked ? 1 : 0);
const failed = sum((run) => run.failed) + (isChecked ? 0 : 1) + (runs.length === 0 ? 1 : 0);
for (const line of runs.flatMap(({ again }) => again)) process.stdout.write(`\n${line}\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
