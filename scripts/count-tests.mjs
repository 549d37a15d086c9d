// node scripts/count-tests.mjs <exit status of the checks> <folder> Prints "N passed, N failed" as the last line of .ci/run. The folder
// contains NAME.json, a report of vitest, and NAME.status, its exit status. Exits with 1 unless something has passed and nothing has
// failed. If the folder contains again.json, the failed files were run a second time, and that result counts. again-postgres.json is the same
// for the run on another PostgreSQL, `postgres`. Tests that passed only the second time are listed before the last line.
//
// node scripts/count-tests.mjs --failed-files <folder> <names> Prints the files of these runs that have a failed test, one per line.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const [first, folder, chosen = ""] = process.argv.slice(2);

/** Returns the exit status of a run, and its files by path. The files are undefined if the run was ended before it wrote a report. */
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

/** Returns how many tests of a file passed and failed. A file that could not be loaded counts as one failure. */
function countFile({ status, assertionResults }) {
  const failed = assertionResults.filter(isFailed).length;
  const passed = assertionResults.filter((test) => test.status === "passed").length;
  return { passed, failed: failed === 0 && status === "failed" ? 1 : failed };
}

/**
 * Returns the sum over the files of a run, each with its last result. A run that failed although none of its files did counts as one
 * failure.
 */
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

/** Returns a line for each test, and for each file that could not be loaded, that failed at first and passed the second time. */
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

/** Returns the second results of the files of a run that failed, by path. */
function rerunOf(name) {
  const then = name === "postgres" ? "again-postgres" : "again";
  const rerun = existsSync(join(folder, `${then}.json`)) ? (readRun(then).files ?? []) : [];
  return new Map(rerun.map((file) => [file.path, file]));
}

const names = readdirSync(folder)
  .filter((file) => file.endsWith(".status") && !file.startsWith("again"))
  .map((file) => file.slice(0, -".status".length));

if (first === "--failed-files") {
  const runs = names.filter((name) => chosen.split(" ").includes(name)).map(readRun);
  for (const { path } of runs.flatMap((run) => run.files ?? []).filter(isFailed)) process.stdout.write(`${path}\n`);
} else {
  const runs = names.map((name) => ({ run: readRun(name), again: rerunOf(name) }));
  const counts = runs.map(({ run, again }) => countRun(run, again));
  const checkFailed = first === "0" ? 0 : 1;
  const passed = counts.reduce((total, count) => total + count.passed, 1 - checkFailed);
  const failed = counts.reduce((total, count) => total + count.failed, checkFailed + (runs.length === 0 ? 1 : 0));
  for (const { run, again } of runs)
    for (const line of (run.files ?? []).flatMap((file) => passedAgain(file, again.get(file.path))))
      process.stdout.write(`\n${line}\n`);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
