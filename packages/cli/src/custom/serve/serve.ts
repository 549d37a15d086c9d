import { configVariables } from "@svc/server/config";
import { type Command, Option } from "commander";
import { onInterrupt } from "../../command/context.ts";
import { addExamples } from "../../command/options.ts";
import { tableLines } from "../../text/table.ts";
import { compactHeap, followHeapGrowth, holdHeapGrowth } from "./heap-growth.ts";

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
