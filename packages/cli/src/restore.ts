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
    .description(
      "put a backup into an empty data folder (SVC_DATA_DIR), for a service to start there; the vault key is there or in SVC_VAULT_KEY",
    )
    .option("--unsealed", "take a file without a seal: whoever wrote it can run programs on this machine")
    .action(async (file: string, options: JsonOption & { unsealed?: true }) => {
      const store = await embeddedStore(context);
      const { dataDir } = store;
      // Loaded here: every other command starts without the server's parts.
      const { restore: restoreBackup } = await import("@svc/server/backup");
      const onProgress = (doneBytes: number) =>
        context.screen?.draw([{ text: `${bytesText(doneBytes)} written`, style: "dim" }]);
      const allowsUnsealed = options.unsealed === true;
      const { version, endsAt, isSealed } = await restoreBackup({ store, file, allowsUnsealed, onProgress });
      context.screen?.keep();
      context.print(options.json ? JSON.stringify({ dataDir, version, endsAt, sealed: isSealed }) : dataDir);
      if (!isSealed) {
        context.note(
          "WARNING: the file bears no seal, so nobody knows who wrote it. Whoever did decides what the database holds and can run programs on this machine as its account: start the service only if the file was never in other hands.",
        );
      }
      context.note(
        `all that svc ${version} had accepted before ${endsAt}. The start needs the same vault key: in ${dataDir}/vault-key, or in SVC_VAULT_KEY.`,
      );
      context.note(
        "The service that starts there takes calls and posts, and sends nothing by itself until `svc resume`: set SVC_ADMIN_TOKEN for that.",
      );
    });
  addExamples(addJson(restore, "the folder and whose backup it is as JSON"), [
    "SVC_DATA_DIR=/var/lib/svc svc restore /backups/svc.backup",
    "SVC_VAULT_KEY=$(cat svc-vault-key) svc restore /backups/svc.backup",
  ]);
}
