import { AdminService, type Restore, RestoreSchema } from "@svc/gen/admin";
import { command, type Run } from "../command/declared.ts";
import { messageText } from "../text/message.ts";
import { countText, timeText } from "../text/table.ts";

type ResumeOptions = { readonly dryRun?: boolean };

/**
 * The command `svc resume`. After a database was restored from a backup, svc sends no deliveries and continues no jobs until the
 * administrator runs this command.
 */
export const addResumeCommand = command(
  AdminService.method.resumeRestored,
  {
    says: "make a restored store send deliveries and continue jobs, as the administrator",
    options: [
      ["--dry-run", "show what waits without changing anything"],
      ["--nothing-since", "the original store did nothing after the backup's end, so no write is in doubt"],
    ],
    json: "the restore as JSON",
    more: `
Deliveries are sent with their earlier ids, and writes of jobs with their earlier keys to apps that accept keys. Any other
write of a job from before the restore is in doubt when the job reaches it: people say if it was done, unless
--nothing-since says that it was not.`,
    also: [[AdminService.method.getRestore, "--dry-run"]],
    examples: ["svc resume --dry-run", "svc resume", "svc resume --nothing-since"],
  },
  async ({ values: { dryRun = false }, context, admin, asJson }: Run<ResumeOptions>, request) => {
    const { restore } = dryRun ? await admin().admin.getRestore({}) : await admin().admin.resumeRestored(request);
    if (asJson) context.print(restore === undefined ? "null" : messageText(RestoreSchema, restore));
    else context.print(restore === undefined ? "the store was never restored" : restoreLine(restore, dryRun));
    if (dryRun && restore !== undefined && restore.resumedAt === undefined) {
      context.note(
        "`svc resume` sends and continues all of this; first park or cancel what must not run: `svc jobs list`, `svc jobs park`.",
      );
    }
  },
);

function restoreLine(restore: Restore, isDryRun: boolean): string {
  const { backupEndsAt, resumedAt, deliveries, jobs, nothingSince } = restore;
  const waiting = `${deliveries} ${deliveries === 1 ? "delivery" : "deliveries"} and ${countText(jobs, "job")}`;
  const from = `restored from a backup of ${timeText(backupEndsAt)}`;
  if (resumedAt === undefined) return `held: ${from}; ${waiting} wait`;
  const doubt = nothingSince ? "no writes of jobs are in doubt" : "writes of jobs without a key are in doubt";
  // Only the call that ended the hold (the pause after a restore) returns how many deliveries and jobs waited. A dry run after that has no
  // such numbers.
  const waited = isDryRun ? "nothing waits for a resume any more" : `${waiting} waited`;
  return `resumed ${timeText(resumedAt)}: ${from}; ${waited}, ${doubt}`;
}
