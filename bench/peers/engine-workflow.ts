import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { answerCommands } from "../child.ts";
import { delay } from "../monotonic.ts";
import { type EngineCommands, type EngineWork, importEngine, resolveEngine } from "./engine.ts";
import { serveEngine } from "./engine-server.ts";

type World = {
  start(): Promise<void>;
  readonly runs: { get(runId: string): Promise<{ readonly status: string; readonly error?: unknown }> };
};
type Runtime = { getWorld(): World | Promise<World> };
type Api = { start(workflow: { workflowId: string }, args: readonly EngineWork[]): Promise<{ runId: string }> };
type Bundle = { POST(request: Request): Promise<Response> };

/** Id of the workflow, as the build writes it into the manifest. */
const chainId = "workflow//./workflows/bench//chain";

const connectionsMax = 20;
const requireBundle = createRequire(new URL("../engines/.well-known/", import.meta.url));
let done = 0;

const commands: EngineCommands = {
  start: async ({ databaseUrl }) => {
    const bundlesPort = await serveBundles();
    Object.assign(process.env, {
      PORT: String(bundlesPort),
      WORKFLOW_TARGET_WORLD: resolveEngine("@workflow/world-postgres"),
      WORKFLOW_POSTGRES_URL: databaseUrl,
      WORKFLOW_POSTGRES_MAX_POOL_SIZE: String(connectionsMax),
      // The package recommends two connections fewer than the pool has.
      WORKFLOW_POSTGRES_WORKER_CONCURRENCY: String(connectionsMax - 2),
      WORKFLOW_NO_UPDATE_CHECK: "1",
    });
    migrate();
    const { getWorld } = await importEngine<Runtime>("workflow/runtime");
    const { start } = await importEngine<Api>("workflow/api");
    const world = await getWorld();
    await world.start();
    const port = await serveEngine(async (_, work) => {
      const { runId } = await start({ workflowId: chainId }, [work]);
      await untilCompleted(world, runId);
      done += 1;
    });
    return { port, otherPids: [] };
  },
  recorded: () => done,
};

answerCommands(commands);

function migrate(): void {
  const setup = resolveEngine("@workflow/world-postgres").replace(/dist\/index\.js$/, "bin/setup.js");
  const { status, stderr } = spawnSync(process.execPath, [setup], { encoding: "utf8" });
  if (status !== 0) throw new Error(`world-postgres made no schema: ${stderr}`);
}

/** Waits for the end of a run. The package's own function asks only once a second. */
async function untilCompleted(world: World, runId: string): Promise<void> {
  for (;;) {
    const { status, error } = await world.runs.get(runId);
    if (status === "completed") return;
    if (status === "failed" || status === "cancelled")
      throw new Error(`the run is ${status}: ${JSON.stringify(error)}`);
    await delay(5);
  }
}

/** Serves the workflow's own routes, which the build made and the package's queue calls. They are loaded at the first request. */
function serveBundles(): Promise<number> {
  const bundleOf = (path: string): Bundle => requireBundle(path.replace(/^\/\.well-known\//, "./")) as Bundle;
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    try {
      const { pathname } = new URL(req.url ?? "/", "http://localhost");
      const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]);
      const request = new Request(`http://localhost${req.url}`, {
        method: "POST",
        headers,
        body: Buffer.concat(chunks),
      });
      const answer = await bundleOf(`${pathname}.js`).POST(request);
      res.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
    } catch (error) {
      res.writeHead(500).end(String(error));
    }
  });
  server.keepAliveTimeout = 600_000;
  return new Promise((resolve) => {
    server.listen(0, "localhost", () => resolve((server.address() as AddressInfo).port));
  });
}
