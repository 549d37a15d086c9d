// node --import "record.mjs?checkout=<folder>&to=<file>": Records which functions of the traced files the process enters for each job.
// Writes them to the file when the process ends: {functions: [{file, name}], jobs: {<id>: [<index of a function>, …]}}.
import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync, writeFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { relative, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { instrument } from "./instrument.mjs";
import { isTraced, layoutOf } from "./layouts.mjs";

const { searchParams } = new URL(import.meta.url);

/** Traces all modules that are loaded from now on. */
function record(checkout, to) {
  const layout = layoutOf(checkout);
  const functions = [];
  registerHooks({
    load(url, context, nextLoad) {
      const path = url.startsWith("file:") ? fileURLToPath(url) : "";
      const file = relative(checkout, path).split(sep).join("/");
      if (!isTraced(file)) return nextLoad(url, context);
      const { code, names } = instrument(stripTypeScriptTypes(readFileSync(path, "utf8")), {
        firstId: functions.length,
        roots: layout.roots.filter((root) => root.file === file),
      });
      functions.push(...names.map((name) => ({ file, name })));
      return { format: "module", source: code, shortCircuit: true };
    },
  });
  const jobs = followJobs();
  process.on("exit", () => writeFileSync(to, JSON.stringify({ functions, jobs: Object.fromEntries(jobs) })));
}

/** Returns the functions entered so far, by job. The code that `instrument` has inserted adds to them. */
function followJobs() {
  const jobs = new Map();
  const entries = new AsyncLocalStorage();
  globalThis.traceRun = {
    enter: (id) => entries.getStore()?.push(id),
    run(job, work) {
      if (!jobs.has(job)) jobs.set(job, []);
      return entries.run(jobs.get(job), work);
    },
  };
  return jobs;
}

// Threads of the process load this file as well, but they run no jobs.
if (isMainThread) {
  record(searchParams.get("checkout"), searchParams.get("to"));
  // The process that asked for the recording has ended, and no other process would end this one.
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}
