import type { Config } from "@svc/server/config";
import { localConfig } from "../command/client.ts";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { bytesText } from "../text/plain.ts";

/** The command `svc backup`, which copies the embedded database into one file. */
export const addBackupCommand = command(
  undefined,
  {
    says: "copy the embedded database into one file, while the service is running or stopped; the vault key is not part of it",
    takes: { "<file>": "" },
    json: "the file and its size as JSON",
    client: "none",
    examples: [
      "svc backup /backups/svc-$(date +%F).backup",
      "SVC_DATA_DIR=/var/lib/svc svc backup /backups/svc.backup",
    ],
  },
  async ({ values: { file }, context, asJson }: Run<{ readonly file: string }>) => {
    const store = await embeddedStore(context);
    const { dataDir } = store;
    // Loads the server only here, so that other commands start without it.
    const { backUp } = await import("@svc/server/backup");
    const onProgress = (doneBytes: number, totalBytes: number) =>
      context.screen?.draw([{ text: `${bytesText(doneBytes)} of about ${bytesText(totalBytes)}`, style: "dim" }]);
    const signal = context.untilInterrupted();
    const { readBytes, endsAt, foreign } = await backUp({ store, file, onProgress, signal });
    context.screen?.keep();
    context.print(asJson ? JSON.stringify({ file, readBytes, endsAt, foreign }) : file);
    context.note(
      `${bytesText(readBytes)} of ${dataDir}, with everything that was accepted before ${endsAt}. Keep its vault key in another place: ${dataDir}/vault-key, or SVC_VAULT_KEY. A restore needs it, and refuses a file that was changed.`,
    );
    if (foreign.length > 0) {
      context.note(
        `WARNING: the database contains ${foreign.join(", ")}, which svc did not create. A restore refuses this file: drop these objects, and make another backup.`,
      );
    }
  },
);

/**
 * Returns the local data folder, and the vault key if it is outside of the folder. Throws CommandError if the service uses the operator's
 * own PostgreSQL.
 */
async function embeddedStore(context: CommandContext): Promise<Pick<Config, "dataDir" | "vaultKeys">> {
  if (context.environment.get("SVC_DATABASE_URL") !== undefined) {
    throw new CommandError(
      "SVC_DATABASE_URL names your own PostgreSQL, which has its own tools: this command is for the embedded database",
    );
  }
  return localConfig(context, "SVC_DATA_DIR", "SVC_VAULT_KEY");
}

/** The command `svc restore`, which puts a backup into an empty data folder, in which a service can then start. */
export const addRestoreCommand = command(
  undefined,
  {
    says: "put a backup into an empty data folder (SVC_DATA_DIR), in which a service can then start; the vault key is in that folder or in SVC_VAULT_KEY",
    takes: { "<file>": "" },
    options: [["--unsealed", "accept a file without a seal: its author can run programs on this machine"]],
    json: "the folder and the origin of the backup as JSON",
    client: "none",
    examples: [
      "SVC_DATA_DIR=/var/lib/svc svc restore /backups/svc.backup",
      "SVC_VAULT_KEY=$(cat svc-vault-key) svc restore /backups/svc.backup",
    ],
  },
  async ({ values: options, context, asJson }: Run<{ unsealed?: true } & { readonly file: string }>) => {
    const { file } = options;

    const store = await embeddedStore(context);
    const { dataDir } = store;
    // Loads the server only here, so that other commands start without it.
    const { restore: restoreBackup } = await import("@svc/server/backup");
    const onProgress = (doneBytes: number) =>
      context.screen?.draw([{ text: `${bytesText(doneBytes)} written`, style: "dim" }]);
    const allowsUnsealed = options.unsealed === true;
    const { version, endsAt, isSealed } = await restoreBackup({ store, file, allowsUnsealed, onProgress });
    context.screen?.keep();
    context.print(asJson ? JSON.stringify({ dataDir, version, endsAt, sealed: isSealed }) : dataDir);
    if (!isSealed) {
      context.note(
        "WARNING: the file has no seal, so its author is unknown. The author decides what the database contains and can run programs on this machine as its account: start the service only if no one else has ever had the file.",
      );
    }
    context.note(
      `everything that svc ${version} had accepted before ${endsAt}. The start needs the same vault key: in ${dataDir}/vault-key, or in SVC_VAULT_KEY.`,
    );
    context.note(
      "The service that starts there accepts calls and posts, but sends nothing by itself until `svc resume`: set SVC_ADMIN_TOKEN for that.",
    );
  },
);
