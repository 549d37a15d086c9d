import { setInterval } from "node:timers";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { configVariables } from "@svc/server/config";
import { type Command, Option } from "commander";
import { onInterrupt } from "../command/context.ts";
import { addExamples } from "../command/options.ts";
import { tableLines } from "../text/table.ts";

/**
 * Size in bytes to which V8's old generation may grow before V8 collects garbage. With this size the whole process stays below 600 MiB,
 * including the young generation and large values.
 */
const grownBytes = 190 * 1024 * 1024;
/** Size in bytes to which V8's old generation (long-lived objects) may grow, even if the last garbage collection freed nothing. */
const floodedBytes = 280 * 1024 * 1024;
/**
 * Smallest and largest growth step of V8's heap that svc sets, in percent (`--heap-growing-percent`). V8 may take a smaller step than the
 * one that is set.
 */
const [stepMin, stepMax] = [30, 300];
const lookEveryMs = 250;
/**
 * svc remembers the smallest heap size. Each time svc reads the heap size, it multiplies the remembered size by this factor. So a small
 * size from long ago loses its effect.
 */
const forgetting = 1.01;

/**
 * Keeps V8's young generation (the heap part for new objects) at its initial size until `followHeapGrowth` is called. Almost everything
 * that loads at the start stays in memory, so room for garbage would not help. By default, the young generation grows to 128 MiB and never
 * shrinks. V8 cannot change this size at run time, but a growth factor of 1 prevents the growth. The factor is set in code, because a start
 * flag would be needed wherever svc is started.
 */
function holdHeapGrowth(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Frees memory that loading has left unused: definitions in the form in which they were read, and nearly empty heap pages. This is a
 * quarter of the memory of an idle process. It blocks the thread for a third of a second, so it runs before the server listens.
 */
export async function compactHeap(): Promise<void> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    // By itself, V8 compacts the heap only if memory is short. Without a start flag, only the inspector can request this.
    await session.post("HeapProfiler.enable");
    await session.post("HeapProfiler.collectGarbage");
  } finally {
    session.disconnect();
  }
}

/** Sets how far V8's heap may grow between garbage collections, so that garbage collection needs little processor time. */
function followHeapGrowth(): void {
  // Lets the young generation grow beyond 64 MiB. At 64 MiB, tool calls need 12 % more processor time.
  setFlagsFromString("--semi-space-growth-factor=2");
  let step = 0;
  let left = Number.POSITIVE_INFINITY;
  setInterval(() => {
    const { used_heap_size: used } = getHeapStatistics();
    // The growth step depends on the smallest recent heap size. The current size would be wrong: it is largest just before a collection.
    left = Math.min(used, left * forgetting);
    // By V8's own rule, a burst of values made the old generation 600 MiB large. So svc reduces the step of a large heap.
    const next = growthStep(used, left);
    if (next !== step) setFlagsFromString(`--heap-growing-percent=${next}`);
    step = next;
  }, lookEveryMs).unref();
}

/**
 * Returns the percentage by which V8's heap may grow until the next garbage collection. `used`: present size of the heap in bytes. `left`:
 * its size in bytes after a collection.
 */
export function growthStep(used: number, left: number): number {
  // Both sizes are fixed. With a third of the size of the process as the maximum, V8 collected garbage each time a loaded node kept 14 MiB
  // for a moment.
  const factor = Math.min(grownBytes / left, floodedBytes / used);
  return Math.min(stepMax, Math.max(stepMin, Math.round((factor - 1) * 100)));
}

/** The command `svc serve`, which runs the service until SIGTERM or SIGINT. */
export function addServeCommand(program: Command): void {
  const serve = program
    .command("serve")
    .alias("start")
    .description("run the service until SIGTERM or SIGINT; environment variables configure it")
    .addOption(
      new Option("--process <number>", "index of this process among SVC_PROCESSES").argParser(Number).hideHelp(),
    )
    .action(async ({ process: processNumber }: { process?: number }) => {
      holdHeapGrowth();
      // Loads the server only here, so that every other command starts without it.
      const { serve: runServer } = await import("@svc/server");
      await runServer({
        ...{ nextSignal, program: thisProgram, processNumber },
        onLoaded: compactHeap,
        onStarted: followHeapGrowth,
      });
    });
  const rows = configVariables.map(({ name, meaning, default: fallback }) => [
    name,
    `${meaning} (default: ${fallback})`,
  ]);
  const variables = tableLines(
    ["Variables:", ""],
    rows.map(([name = "", text = ""]) => [`  ${name}`, text]),
  );
  serve.addHelpText("after", `\n${variables.join("\n")}`);
  addExamples(serve, [
    "svc serve",
    "SVC_PORT=9000 SVC_WEBHOOK_SECRET_CALENDAR=swordfish svc serve",
    "SVC_PROCESSES=4 SVC_SANDBOX=off svc serve",
    'SVC_DATABASE_URL=postgres://svc:secret@db:5432/svc SVC_VAULT_KEY="k1:$(openssl rand -base64 32)" svc serve',
  ]);
}

/** The path and arguments with which this program was started. The server uses them to start more processes of the program. */
const thisProgram = {
  file: process.argv[1] ?? "",
  argumentsOf: (number: number) => ["serve", "--process", String(number)],
};

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => onInterrupt(["SIGTERM", "SIGINT"], resolve));
}
