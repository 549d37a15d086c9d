// node scripts/count-tests.mjs <vitest's JSON> <exit status of the checks> <exit status of the tests>
// Prints "N passed, N failed" as the last line of .ci/run and exits 1 unless something passed and nothing failed. Names before it the
// tests that passed only when they were run again.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const [file, checkStatus, testStatus] = process.argv.slice(2);

/** Counts tests; a file that could not be loaded, and a run that failed without a failed test, count as one failure each. */
function countTests() {
  let report;
  try {
    report = JSON.parse(readFileSync(file, "utf8"));
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
    failed: failed === 0 && (testStatus !== "0" || passed === 0) ? 1 : failed,
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

const tests = countTests();
const isChecked = checkStatus === "0";
const passed = tests.passed + (isChecked ? 1 : 0);
const failed = tests.failed + (isChecked ? 0 : 1);
for (const line of tests.again) process.stdout.write(`\n${line}\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
