import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerCommands, stopProcess } from "../child.ts";
import { freePort } from "../free-port.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import { createGate, type EngineCommands, type EngineWork, importEngine, readItem, resolveEngine } from "./engine.ts";

type Context = { run<T>(name: string, run: () => Promise<T>): Promise<T> };
type Handler = (ctx: Context, work: EngineWork) => Promise<void>;
type Restate = {
  service(options: { name: string; handlers: Record<string, Handler> }): unknown;
  serve(options: { services: readonly unknown[]; port: number }): Promise<number>;
  RestatePromise: { all<T>(promises: readonly Promise<T>[]): Promise<T[]> };
};

const readyMicros = 60e6;
let server: ChildProcess | undefined;
let folder: string | undefined;
let done = 0;

const commands: EngineCommands = {
  start: async () => {
    // Without this, a log line is written for each invocation. The variable is read when the package is loaded.
    process.env["RESTATE_LOGGING"] = "ERROR";
    const { service, serve, RestatePromise } = await importEngine<Restate>("@restatedev/restate-sdk");
    const chain: Handler = async (ctx, work) => {
      for (let index = 0; index < work.steps; index += 1) await ctx.run("read", () => readItem(work, index));
      done += 1;
    };
    const together: Handler = async (ctx, work) => {
      // All steps are begun in a fixed order, because a replay needs that. The limit on parallel work applies inside them.
      const gate = createGate();
      await RestatePromise.all(
        Array.from({ length: work.steps }, (_, index) => ctx.run("read", () => gate(() => readItem(work, index)))),
      );
      done += 1;
    };
    const handlerPort = await freePort();
    await serve({ services: [service({ name: "bench", handlers: { chain, together } })], port: handlerPort });
    folder = await mkdtemp(join(tmpdir(), "svc-bench-restate-"));
    const [ingressPort, adminPort, nodePort] = [await freePort(), await freePort(), await freePort()];
    server = startServer(folder, { ingressPort, adminPort, nodePort });
    await register(`http://127.0.0.1:${adminPort}`, `http://127.0.0.1:${handlerPort}`);
    return { port: ingressPort, otherPids: [], storePid: server.pid };
  },
  recorded: () => done,
};

answerCommands(commands, async () => {
  const running = server;
  if (running !== undefined) await stopProcess(running, () => running.kill("SIGTERM"), 3_000);
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

type Ports = { readonly ingressPort: number; readonly adminPort: number; readonly nodePort: number };

/** Starts the server with default settings: its log is made durable before it answers. */
function startServer(baseDir: string, { ingressPort, adminPort, nodePort }: Ports): ChildProcess {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const binary = resolveEngine(`${name}/bin/restate-server`);
  return spawn(binary, [], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      RESTATE_BASE_DIR: baseDir,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${nodePort}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
      RESTATE_LOG_FILTER: "error,octocrab=off",
      RESTATE_DISABLE_TELEMETRY: "true",
    },
  });
}

/** Registers the address of the handlers at the server, as soon as the server listens. */
async function register(adminUrl: string, handlerUrl: string): Promise<void> {
  const giveUpAt = monotonicMicros() + readyMicros;
  for (;;) {
    const answer = await fetch(`${adminUrl}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri: handlerUrl }),
    }).then(
      async (response) => (response.ok ? "" : `${response.status} ${await response.text()}`),
      (error: unknown) => String(error),
    );
    if (answer === "") return;
    if (monotonicMicros() > giveUpAt) throw new Error(`restate-server took no deployment within 60 seconds: ${answer}`);
    await delay(100);
  }
}
