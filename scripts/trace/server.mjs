import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";

const apiKey = "key-of-the-traced-service-0123456789";
/** Main file of `svc`, by layout. The second one is the file of version 0.1. */
const mains = ["packages/cli/src/main.ts", "packages/server/src/main.ts"];
const startMs = 60_000;
/** Milliseconds within which the service must have finished its work and closed its database. */
const stopMs = 20_000;

/**
 * Starts the service of a checkout on a free port with the sandbox. The module `preload` is loaded first, and the database is below
 * `dataDir`. `call`: posts JSON to a method and resolves to the answer. `stop`: resolves when the process has ended.
 */
export async function startServer(checkout, { dataDir, preload, signal }) {
  const port = await freePort();
  const main = mains.map((path) => join(checkout, path)).find((path) => existsSync(path));
  if (main === undefined) throw new Error(`${checkout} has none of ${mains.join(", ")}`);
  const options = ["--disable-warning=ExperimentalWarning", "--import", preload];
  const child = spawn(process.execPath, [...options, main, "serve"], {
    cwd: checkout,
    // Through this channel, the service notices when this process has ended.
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: environment(port, dataDir),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output = `${output}${text}`.slice(-10_000);
    });
  }
  const closed = once(child, "close");
  const url = `http://127.0.0.1:${port}`;
  const server = {
    call: (method, body) => post(`${url}/svc.v1.${method}`, body, signal),
    stop: () => end(child, closed),
    /** Returns the output of the service. */
    output: () => output.trim(),
  };
  try {
    await ready(url, child, signal);
    return server;
  } catch (error) {
    await server.stop();
    if (signal.aborted) throw signal.reason;
    throw new Error(`the service of ${checkout} did not start: ${error.message}\n${output.trim()}`);
  }
}

/** Returns the environment of the service. It contains little of this process's environment, so that its settings for svc do not apply. */
function environment(port, dataDir) {
  return {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    // The instrumented code must not get into the cache that later starts of the checkout use.
    NODE_DISABLE_COMPILE_CACHE: "1",
    SVC_PORT: String(port),
    SVC_DATA_DIR: dataDir,
    SVC_SANDBOX: "force",
    SVC_BOOTSTRAP_KEY: apiKey,
    SVC_LOG_LEVEL: "warn",
    SVC_DRAIN: "5s",
  };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

async function ready(url, child, signal) {
  for (const lateAt = performance.now() + startMs; ; await wait(50, undefined, { signal })) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error("the process ended");
    const answer = await fetch(`${url}/readyz`, { signal }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    if (performance.now() > lateAt) throw new Error(`it was not ready after ${startMs / 1000} s`);
  }
}

async function post(url, body, signal) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
    body: JSON.stringify(body),
    signal,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${new URL(url).pathname.slice(1)} was answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

async function end(child, closed) {
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), stopMs);
  await closed;
  clearTimeout(late);
}
