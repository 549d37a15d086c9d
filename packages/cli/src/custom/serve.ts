import { setInterval } from "node:timers";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { configVariables } from "@svc/server/config";
import { type Command, Option } from "commander";
import { onInterrupt } from "../command/context.ts";
import { addExamples } from "../command/options.ts";
import { tableLines } from "../text/table.ts";

/** What the heap may grow to before it is collected, bytes: with the young generation, large values and the rest of a process less than 600 MiB. */
const grownBytes = 190 * 1024 * 1024;
/** A heap that is as large as that grows in such steps, and no heap in larger ones than V8 would make, percent. */
const [stepMin, stepMax] = [30, 300];
const lookEveryMs = 250;

/**
 * Keeps V8's young generation as it is, until `followHeapGrowth`: what is loaded at a start stays, and nothing is gained by making
 * room for its garbage. Left alone it grows to 128 MiB with that, which are never given back. V8 takes no bound once it runs, but asks
 * by what factor to grow each time; flags of the start would have to be given to every way of starting.
 */
function holdHeapGrowth(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Gives back what loading left behind: definitions as they were read, and pages of the heap with little in them, a quarter of an idle
 * process. Takes a third of a second of this thread, so it is for the moment before anything is listened to.
 */
export async function compactHeap(): Promise<void> {
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    // What V8 does where memory is short, and the only way to ask for it without a flag of the start.
    await session.post("HeapProfiler.enable");
    await session.post("HeapProfiler.collectGarbage");
  } finally {
    session.disconnect();
  }
}

/**
 * Lets the heap grow as the load makes it, for that costs the processor least (calls of tools take 12 % more of it where the young
 * generation ends at 64 MiB). How far the old one grows until it is collected again is said by what is used now, which no collection
 * leaves more of: by V8's own measure, up to four times what lives, floods of values made 600 MiB of it, one after the other. By the
 * process's size a third at most made a collection of every 14 MiB that a node under load let live for a moment, with no flood at all.
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
    .description("run the service until SIGTERM or SIGINT; it is configured by environment variables")
    .addOption(new Option("--process <number>", "which of SVC_PROCESSES this is").argParser(Number).hideHelp())
    .action(async ({ process: processNumber }: { process?: number }) => {
      holdHeapGrowth();
      // Loaded here: every other command starts without the server's parts.
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

/** This program again, by the path that it was started by. */
const thisProgram = {
  file: process.argv[1] ?? "",
  argumentsOf: (number: number) => ["serve", "--process", String(number)],
};

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => onInterrupt(["SIGTERM", "SIGINT"], resolve));
}
