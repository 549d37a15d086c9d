import { command, type Run } from "../command/declared.ts";
import type { JsonOption } from "../command/options.ts";
import { bytesText } from "../text/plain.ts";
import { embeddedStore } from "./backup.ts";

/** Adds `svc restore`. */
export const addRestoreCommand = command(
  undefined,
  {
    says: "put a backup into an empty data folder (SVC_DATA_DIR), for a service to start there; the vault key is there or in SVC_VAULT_KEY",
    takes: { "<file>": "" },
    options: [["--unsealed", "take a file without a seal: whoever wrote it can run programs on this machine"]],
    json: "the folder and whose backup it is as JSON",
    client: "none",
    examples: [
      "SVC_DATA_DIR=/var/lib/svc svc restore /backups/svc.backup",
      "SVC_VAULT_KEY=$(cat svc-vault-key) svc restore /backups/svc.backup",
    ],
  },
  async ({ values: options, context, asJson }: Run<JsonOption & { unsealed?: true } & { readonly file: string }>) => {
    const { file } = options;

    const store = await embeddedStore(context);
    const { dataDir } = store;
    // Loaded here: every other command starts without the server's parts.
    const { restore: restoreBackup } = await import("@svc/server/backup");
    const onProgress = (doneBytes: number) =>
      context.screen?.draw([{ text: `${bytesText(doneBytes)} written`, style: "dim" }]);
    const allowsUnsealed = options.unsealed === true;
    const { version, endsAt, isSealed } = await restoreBackup({ store, file, allowsUnsealed, onProgress });
    context.screen?.keep();
    context.print(asJson ? JSON.stringify({ dataDir, version, endsAt, sealed: isSealed }) : dataDir);
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
  },
);
