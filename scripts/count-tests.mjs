// node scripts/count-tests.mjs <exit status of the checks> <folder with NAME.json, vitest's report, and NAME.status, its exit status>
// Prints "N passed, N failed" as the last line of .ci/run and exits 1 unless something passed and nothing failed. Where the folder has
// again.json, the files that failed were run once more: how they ended then counts. Names before the last line the tests that passed
// only then.
//
// node scripts/count-tests.mjs --failed-files <folder>
// Prints the files that have a test that failed, one a line.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const [first, folder] = process.argv.slice(2);

/** A run's exit status, and its files by their path; undefined where it was ended before it reported. */
function readRun(name) {
  const status = readFileSync(join(folder, `${name}.status`), "utf8").trim();
  try {
    const { testResults } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
    return { status, files: testResults.map((file) => ({ ...file, path: relative(process.cwd(), file.name) })) };
  } catch {
    return { status, files: undefined };
  }
}

const isFailed = ({ status }) => status === "failed";

/** How many tests of a file ended so; a file that could not be loaded counts as one failure. */
function countFile({ status, assertionResults }) {
  const failed = assertionResults.filter(isFailed).length;
  const passed = assertionResults.filter((test) => test.status === "passed").length;
  return { passed, failed: failed === 0 && status === "failed" ? 1 : failed };
}

/** The sum over a run's files, each as it ended last; a run that failed without any failure of its files counts as one. */
function countRun({ status, files }, again) {
  if (files === undefined) return { passed: 0, failed: 1 };
  const total = { passed: 0, failed: 0 };
  for (const file of files) {
    const count = countFile(again.get(file.path) ?? file);
    total.passed += count.passed;
    total.failed += count.failed;
  }
  const isExplained = status === "0" || files.some(isFailed);
  if (!isExplained || total.passed === 0) total.failed = Math.max(1, total.failed);
  return total;
}

/** A line for each test, and each file that could not be loaded, that failed first and passed then. */
function passedAgain(file, then) {
  if (then === undefined || !isFailed(file) || isFailed(then)) return [];
  const failures = file.assertionResults.filter(isFailed);
  const reasons =
    failures.length === 0
      ? [`the file: ${file.message}`]
      : failures.map(({ fullName, failureMessages: [message = ""] }) => `${fullName}: ${message}`);
  return reasons.map((reason) => `passed only when it was run again: ${file.path}: ${firstLine(reason)}`);
}

function firstLine(text) {
  return text.split("\n")[0].slice(0, 300);
}

const names = readdirSync(folder)
  .filter((file) => file.endsWith(".status"))
  .map((file) => file.slice(0, -".status".length));
const runs = names.filter((name) => name !== "again").map(readRun);
const files = runs.flatMap((run) => run.files ?? []);

if (first === "--failed-files") {
  for (const { path } of files.filter(isFailed)) process.stdout.write(`${path}\n`);
} else {
  const rerun = existsSync(join(folder, "again.json")) ? (readRun("again").files ?? []) : [];
  const again = new Map(rerun.map((file) => [file.path, file]));
  const counts = runs.map((run) => countRun(run, again));
  const checkFailed = first === "0" ? 0 : 1;
  const passed = counts.reduce((total, count) => total + count.passed, 1 - checkFailed);
  const failed = counts.reduce((total, count) => total + count.failed, checkFailed + (runs.length === 0 ? 1 : 0));
  for (const line of files.flatMap((file) => passedAgain(file, again.get(file.path))))
    process.stdout.write(`\n${line}\n`);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
