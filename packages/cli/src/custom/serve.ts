import { setInterval } from "node:timers";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { configVariables } from "@svc/server/config";
import { type Command, Option } from "commander";
import { onInterrupt } from "../command/context.ts";
import { addExamples } from "../command/options.ts";
import { tableLines } from "../text/table.ts";

/**
 * Size in bytes to which V8's old heap may grow before it is collected. The whole process then stays below 600 MiB, including the young
 * generation and large values.
 */
const grownBytes = 190 * 1024 * 1024;
/** Smallest and largest growth step of the heap, in percent. A step is never larger than V8's own. */
const [stepMin, stepMax] = [30, 300];
const lookEveryMs = 250;

/**
 * Keeps V8's young generation at its initial size until `followHeapGrowth`. What loads at the start stays in memory, so more room for
 * garbage would not help. Without this, the young generation grows to 128 MiB and never shrinks. V8 has no setting for this at run time,
 * but asks for a growth factor each time; start flags would have to be added everywhere svc is started.
 */
function holdHeapGrowth(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Frees memory that loading has left unused: definitions in the form in which they were read, and nearly empty heap pages. This is a
 * quarter of an idle process. It blocks this thread for a third of a second, so it runs before the server listens.
 */
export async function compactHeap(): Promise<void> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    // V8 does this by itself only if memory is short. Without a start flag, this is the only way to request it.
    await session.post("HeapProfiler.enable");
    await session.post("HeapProfiler.collectGarbage");
  } finally {
    session.disconnect();
  }
}

/**
 * Lets the heap grow with the load, which costs the least processor time (calls of tools take 12 % more if the young generation ends at 64
 * MiB). The present use decides how far the old generation grows before it is collected. With V8's own measure, up to four times the live
 * data, floods of values made 600 MiB of it, one after another. With a third of the process's size, a node under load that kept 14 MiB for
 * a moment was collected each time.
 */
function followHeapGrowth(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
  let step = 0;
  setInterval(() => {
    const room = Math.round((grownBytes / getHeapStatistics().used_heap_size - 1) * 100);
    const next = Math.min(stepMax, Math.max(stepMin, room));
    if (next !== step) setFlagsFromString(`--heap-growing-percent=${next}`);
    step = next;
  }, lookEveryMs).unref();
}

/** `svc serve`. */
export function addServeCommand(program: Command): void {
  const serve = program
    .command("serve")
    .description("run the service until SIGTERM or SIGINT; environment variables configure it")
    .addOption(
      new Option("--process <number>", "index of this process among SVC_PROCESSES").argParser(Number).hideHelp(),
    )
    .action(async ({ process: processNumber }: { process?: number }) => {
      holdHeapGrowth();
      // Loaded here, so that every other command starts without the server's parts.
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

/** This program again, by the path that it was started with. */
const thisProgram = {
  file: process.argv[1] ?? "",
  argumentsOf: (number: number) => ["serve", "--process", String(number)],
};

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => onInterrupt(["SIGTERM", "SIGINT"], resolve));
}
