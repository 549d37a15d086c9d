import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folders whose functions are traced, in any version of the source tree. A folder may be missing in a checkout. */
const tracedFolders = ["packages/jobs/src", "packages/program/src", "packages/asks/src"];

/**
 * Functions at which runs begin, one row for each layout (version of the source tree). A checkout has the first layout all of whose roots
 * it contains. A root is a function that works for one run: everything that it calls or starts belongs to the run. `function`: its name
 * (`Class.method`, `Class.#method` or `name`). `job`: an expression over its parameters that gives the id of the job.
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

/** Returns the layout of a checkout. Throws an Error if the table has no row for it. */
export function layoutOf(checkout) {
  const found = layouts.find(({ roots }) => roots.every((root) => holds(checkout, root)));
  if (found === undefined) throw new Error(`${checkout} is laid out like no row of ${table}: add a row for it`);
  return found;
}

function holds(checkout, root) {
  const path = join(checkout, root.file);
  // Only the text is searched here. If the function really exists is checked when the file is parsed.
  return existsSync(path) && readFileSync(path, "utf8").includes(root.function.split(".").at(-1));
}

/** True if the functions of a file are traced. `file`: path relative to the checkout. */
export function isTraced(file) {
  return file.endsWith(".ts") && !testFile.test(file) && tracedFolders.some((folder) => file.startsWith(`${folder}/`));
}
