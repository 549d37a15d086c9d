import type { Command } from "commander";
import { localConfig } from "./client/local-config.ts";
import type { CommandContext } from "./command/context.ts";
import { CommandError } from "./command/error.ts";
import { addExamples } from "./command/examples.ts";
import { addJson, type JsonOption } from "./command/options.ts";
import { bytesText } from "./text/bytes.ts";

/** Adds `svc backup`. */
export function addBackupCommand(program: Command, context: CommandContext): void {
  const backup = program
    .command("backup <file>")
    .description("copy the embedded database into one file, while the service runs or not; the vault key is not in it")
    .action(async (file: string, options: JsonOption) => {
      const { dataDir } = await embeddedStore(context);
      // Loaded here: every other command starts without the server's parts.
      const { backUp } = await import("@svc/server/backup");
      const onProgress = (doneBytes: number, totalBytes: number) =>
        context.screen?.draw([{ text: `${bytesText(doneBytes)} of about ${bytesText(totalBytes)}`, style: "dim" }]);
      const { readBytes, endsAt } = await backUp({ dataDir, file, onProgress, signal: context.untilInterrupted() });
      context.screen?.keep();
      context.print(options.json ? JSON.stringify({ file, readBytes, endsAt }) : file);
      context.note(
        `${bytesText(readBytes)} of ${dataDir}, with all that was accepted before ${endsAt}. Keep its vault key apart: ${dataDir}/vault-key, or SVC_VAULT_KEY.`,
      );
    });
  addExamples(addJson(backup, "the file and how much was read as JSON"), [
    "svc backup /backups/svc-$(date +%F).backup",
    "SVC_DATA_DIR=/var/lib/svc svc backup /backups/svc.backup",
  ]);
}

/** The local data folder. Throws CommandError where the service has a PostgreSQL of the operator's. */
export async function embeddedStore(context: CommandContext): Promise<{ dataDir: string }> {
  if (context.environment.get("SVC_DATABASE_URL") !== undefined) {
    throw new CommandError(
      "SVC_DATABASE_URL names a PostgreSQL of your own, which has means of its own: this is for the embedded database",
    );
  }
  return localConfig(context, "SVC_DATA_DIR");
}
