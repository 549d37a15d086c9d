import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where the functions that count are, whatever the layout; a folder that a checkout lacks holds none. */
const tracedFolders = ["packages/jobs/src", "packages/program/src", "packages/asks/src"];

/**
 * Where runs begin in a checkout, one row a layout; a checkout is of the first row whose roots it has. A root is a function that works
 * for one run: what it enters, and what that starts, belongs to the run. `function` is its name (`Class.method`, `Class.#method` or
 * `name`), `job` an expression over its parameters that is the id of the job.
 */
const layouts = [
  {
    name: "state, steps and drive in rooms",
    roots: [
      { file: "packages/jobs/src/drive/schedule/worker.ts", function: "Worker.#drive", job: "held.task.jobId" },
      { file: "packages/jobs/src/drive/engine.ts", function: "settleJob", job: "jobId" },
    ],
  },
  {
    name: "state, steps and drive (version 0.2 before its rooms)",
    roots: [
      { file: "packages/jobs/src/drive/worker.ts", function: "Worker.#drive", job: "held.task.jobId" },
      { file: "packages/jobs/src/drive/open.ts", function: "settleJob", job: "jobId" },
    ],
  },
  {
    name: "one engine folder (version 0.1)",
    roots: [
      { file: "packages/jobs/src/engine/worker.ts", function: "Worker.#drive", job: "held.task.jobId" },
      { file: "packages/jobs/src/engine/engine.ts", function: "moveSettled", job: "jobId" },
    ],
  },
];

const table = "scripts/trace/layouts.mjs";
const testFile = /(?:^|\/)(?:test-[^/]+|testing)\.ts$|\.(?:test|testing|fixture)\.ts$/;

/** The layout of a checkout. Throws when the table has no row for it. */
export function layoutOf(checkout) {
  const found = layouts.find(({ roots }) => roots.every((root) => holds(checkout, root)));
  if (found === undefined) throw new Error(`${checkout} is laid out like no row of ${table}: add a row for it`);
  return found;
}

function holds(checkout, root) {
  const path = join(checkout, root.file);
  // Whether it is a function there is found out when the file is parsed.
  return existsSync(path) && readFileSync(path, "utf8").includes(root.function.split(".").at(-1));
}

/** Whether entries of a file, named relative to the checkout, count. */
export function isTraced(file) {
  return file.endsWith(".ts") && !testFile.test(file) && tracedFolders.some((folder) => file.startsWith(`${folder}/`));
}
