import type { Command } from "commander";
import { embeddedStore } from "./backup.ts";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addJson, type JsonOption } from "./command/options.ts";
import { bytesText } from "./text/bytes.ts";

/** Adds `svc restore`. */
export function addRestoreCommand(program: Command, context: CommandContext): void {
  const restore = program
    .command("restore <file>")
    .description("put a backup into an empty data folder (SVC_DATA_DIR), for a service to start there")
    .action(async (file: string, options: JsonOption) => {
      const { dataDir } = await embeddedStore(context);
      // Loaded here: every other command starts without the server's parts.
      const { restoreStore } = await import("@svc/server/backup");
      const onProgress = (doneBytes: number) =>
        context.screen?.draw([{ text: `${bytesText(doneBytes)} written`, style: "dim" }]);
      const { version, endsAt } = await restoreStore({ file, dataDir, onProgress });
      context.screen?.keep();
      context.print(options.json ? JSON.stringify({ dataDir, version, endsAt }) : dataDir);
      context.note(
        `all that svc ${version} had accepted before ${endsAt}. Before the start: the vault key in ${dataDir}/vault-key, or in SVC_VAULT_KEY.`,
      );
      context.note(
        "The service that starts there takes calls and posts, and sends nothing by itself until `svc resume`: set SVC_ADMIN_TOKEN for that.",
      );
    });
  addExamples(addJson(restore, "the folder and whose backup it is as JSON"), [
    "SVC_DATA_DIR=/var/lib/svc svc restore /backups/svc.backup",
  ]);
}
