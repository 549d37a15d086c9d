import type { Config } from "@svc/server/config";
import { localConfig } from "../command/client.ts";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import type { JsonOption } from "../command/options.ts";
import { bytesText } from "../text/plain.ts";

/** Adds `svc backup`. */
export const addBackupCommand = command(
  undefined,
  {
    says: "copy the embedded database into one file, while the service runs or not; the vault key is not in it",
    takes: { "<file>": "" },
    json: "the file and how much was read as JSON",
    client: "none",
    examples: [
      "svc backup /backups/svc-$(date +%F).backup",
      "SVC_DATA_DIR=/var/lib/svc svc backup /backups/svc.backup",
    ],
  },
  async ({ values: options, context, asJson }: Run<JsonOption & { readonly file: string }>) => {
    const { file } = options;

    const store = await embeddedStore(context);
    const { dataDir } = store;
    // Loaded here: every other command starts without the server's parts.
    const { backUp } = await import("@svc/server/backup");
    const onProgress = (doneBytes: number, totalBytes: number) =>
      context.screen?.draw([{ text: `${bytesText(doneBytes)} of about ${bytesText(totalBytes)}`, style: "dim" }]);
    const signal = context.untilInterrupted();
    const { readBytes, endsAt, foreign } = await backUp({ store, file, onProgress, signal });
    context.screen?.keep();
    context.print(asJson ? JSON.stringify({ file, readBytes, endsAt, foreign }) : file);
    context.note(
      `${bytesText(readBytes)} of ${dataDir}, with all that was accepted before ${endsAt}. Keep its vault key apart: ${dataDir}/vault-key, or SVC_VAULT_KEY. A restore needs it, and refuses a file that was changed.`,
    );
    if (foreign.length > 0) {
      context.note(
        `WARNING: the database holds ${foreign.join(", ")}, which svc did not make. A restore refuses this file: drop that, and take another backup.`,
      );
    }
  },
);

/** The local data folder, and the vault key where it is not in it. Throws CommandError where the service has a PostgreSQL of the operator's. */
export async function embeddedStore(context: CommandContext): Promise<Pick<Config, "dataDir" | "vaultKeys">> {
  if (context.environment.get("SVC_DATABASE_URL") !== undefined) {
    throw new CommandError(
      "SVC_DATABASE_URL names a PostgreSQL of your own, which has means of its own: this is for the embedded database",
    );
  }
  return localConfig(context, "SVC_DATA_DIR", "SVC_VAULT_KEY");
}
