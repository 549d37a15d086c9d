// node scripts/trace-run.mjs <program.json> Shows which files of the engine the run of a program passes through, in order. For more, see
// --help.
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { root } from "./run.mjs";
import { runProgram } from "./trace/job.mjs";
import { layoutOf } from "./trace/layouts.mjs";
import { startServer } from "./trace/server.mjs";
import { wayOf, wayText } from "./trace/stations.mjs";

const help = `usage: node scripts/trace-run.mjs [--checkout DIR] [--json] PROGRAM

Runs PROGRAM once, in the sandbox of a service that is started for it and removed afterwards, and prints which files the run
passes through, in order. Every question is answered with proceed.

A station is a stay in one file: functions entered one after another in the same file are one station. A station in a file that
the run had left is a return. What counts are functions, methods, getters and closures among them, of the packages jobs, program
and asks, when the driver of the job enters them, or the answer to its question, or what either starts. Where a checkout has those
two is told in scripts/trace/layouts.mjs.

Not counted: coming back from a call; callbacks written in the call of an array method, as a loop would not count either;
constructors that are only implied; the requests that submit and read the job; its tasks that reach and publish; what a batcher
runs in the context of another. The calls that a map makes at once interleave as they come, and what is looked at by the clock is
entered as often as time has it: two runs may differ a little.

  --checkout DIR  the installed checkout whose service runs it (default: this one)
  --json          the same as JSON
  --help          this text

  node scripts/trace-run.mjs docs/examples/count-deals.json
  node scripts/trace-run.mjs --checkout ../old docs/examples/ask-before-writing.json
`;

const nodeMin = 24;

/** Error for a wrong use of this command. */
class UsageError extends Error {}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        checkout: { type: "string", default: root },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (!values.help && positionals.length !== 1) throw new Error("name one program");
    return { ...values, program: positionals[0] };
  } catch (error) {
    throw new UsageError(error.message);
  }
}

/** Returns a signal that aborts when a user or the system asks this process to end. */
function interrupted() {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(name, () => controller.abort(new Error(`interrupted by ${name}`)));
  }
  return controller.signal;
}

function tell(text) {
  process.stderr.write(`${text}\n`);
}

/** Runs the program. Resolves to the job and the files that it passed through. */
async function trace(checkout, programJson) {
  layoutOf(checkout);
  const folder = mkdtempSync(join(tmpdir(), "svc-trace-"));
  try {
    // If the tests run as root, PostgreSQL runs as another user, which must be able to enter this folder.
    chmodSync(folder, 0o711);
    const to = join(folder, "trace.json");
    const job = await runTraced(checkout, programJson, { dataDir: join(folder, "data"), to });
    const { functions, jobs } = JSON.parse(readFileSync(to, "utf8"));
    if (jobs[job.id] === undefined) throw new Error(`the job entered none of the roots that the layout names`);
    return { job, way: wayOf(functions, jobs[job.id]) };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runTraced(checkout, programJson, { dataDir, to }) {
  const signal = interrupted();
  const preload = new URL("./trace/record.mjs", import.meta.url);
  preload.searchParams.set("checkout", checkout);
  preload.searchParams.set("to", to);
  tell(`starting the service of ${checkout}`);
  const server = await startServer(checkout, { dataDir, preload: preload.href, signal });
  try {
    return await runProgram(server, programJson, { signal, tell });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    tell(server.output());
    throw error;
  } finally {
    // The server writes its recording when it ends.
    await server.stop();
  }
}

async function main() {
  const { help: isHelp, json, checkout, program } = readArguments();
  if (isHelp) return process.stdout.write(help);
  const { job, way } = await trace(realpathSync(checkout), readFileSync(program, "utf8"));
  tell([job.status, job.lastError].filter(Boolean).join(": "));
  process.stdout.write(json ? `${JSON.stringify({ program, status: job.status, ...way }, null, 2)}\n` : wayText(way));
}

// The reader of the output may end early, as `head` does.
process.stdout.on("error", () => {});

try {
  if (Number(process.versions.node.split(".")[0]) < nodeMin) {
    const cure = "after `npm run setup` it is node_modules/.bin/node";
    throw new Error(`this needs Node ${nodeMin}, and this is ${process.version}; ${cure}`);
  }
  await main();
} catch (error) {
  const isUsage = error instanceof UsageError;
  tell(`${error.message}${isUsage ? `\n\n${help}` : ""}`);
  process.exitCode = isUsage ? 2 : 1;
}
