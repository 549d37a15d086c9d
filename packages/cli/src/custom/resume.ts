import { AdminService, type Restore, RestoreSchema } from "@svc/gen/admin";
import { command, type Run } from "../command/declared.ts";
import { messageText } from "../text/message.ts";
import { countText, timeText } from "../text/table.ts";

type ResumeOptions = { readonly dryRun?: boolean };

/** `svc resume`. */
export const addResumeCommand = command(
  AdminService.method.resumeRestored,
  {
    says: "let a restored store send deliveries and go on with jobs, as the administrator",
    options: [
      ["--dry-run", "tell what waits, and change nothing"],
      ["--nothing-since", "the store that was backed up did nothing after the backup's end: no write is in doubt"],
    ],
    json: "the restore as JSON",
    more: `
Deliveries go out with the ids that they had, and writes of jobs under the keys that they had to apps that take
such. What else a job from before the restore would write is in doubt when the job comes to it: people say whether it
was done, unless --nothing-since says that it was not.`,
    also: [[AdminService.method.getRestore, "--dry-run"]],
    examples: ["svc resume --dry-run", "svc resume", "svc resume --nothing-since"],
  },
  async ({ values: { dryRun = false }, context, admin, asJson }: Run<ResumeOptions>, request) => {
    const { restore } = dryRun ? await admin().admin.getRestore({}) : await admin().admin.resumeRestored(request);
    if (asJson) context.print(restore === undefined ? "null" : messageText(RestoreSchema, restore));
    else context.print(restore === undefined ? "the store was never restored" : restoreLine(restore, dryRun));
    if (dryRun && restore !== undefined && restore.resumedAt === undefined) {
      context.note(
        "`svc resume` sends and goes on; park or cancel before what must not be: `svc jobs list`, `svc jobs park`.",
      );
    }
  },
);

function restoreLine(restore: Restore, isDryRun: boolean): string {
  const { backupEndsAt, resumedAt, deliveries, jobs, nothingSince } = restore;
  const waiting = `${deliveries} ${deliveries === 1 ? "delivery" : "deliveries"} and ${countText(jobs, "job")}`;
  const from = `restored from a backup of ${timeText(backupEndsAt)}`;
  if (resumedAt === undefined) return `held: ${from}; ${waiting} wait`;
  const doubt = nothingSince ? "none of what jobs write is in doubt" : "what jobs write without a key is in doubt";
  // Only the call that ended the hold reports how much waited.
  const waited = isDryRun ? "nothing waits for a resume any more" : `${waiting} waited`;
  return `resumed ${timeText(resumedAt)}: ${from}; ${waited}, ${doubt}`;
}
