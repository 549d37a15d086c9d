import { AdminService, type AuditFault, AuditFaultSchema, type AuditHead } from "@svc/gen/admin";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { parseCount } from "../command/options.ts";
import { list, topic } from "../command/topic.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";

type VerifyOptions = { readonly heads?: true };

/** The command `svc audit verify`, which checks that no event of the audit log was changed, removed or moved. */
const addAuditVerify = command(
  AdminService.method.verifyAuditLog,
  {
    says: "check every event against its chain; changed, removed or moved events are named, and the exit code is 1",
    options: [["--heads", "print the end of every chain, to be stored elsewhere"]],
    json: "the problems as a JSON list",
    examples: ["svc audit verify", "svc audit verify --heads > heads.txt"],
  },
  async ({ values: options, context, admin, asJson }: Run<VerifyOptions>) => {
    const faults: AuditFault[] = [];
    const heads: AuditHead[] = [];
    let checked = 0;
    let pageToken = "";
    do {
      const part = await admin().admin.verifyAuditLog({ pageToken });
      checked += part.checked;
      faults.push(...part.faults);
      heads.push(...part.heads);
      pageToken = part.nextPageToken;
    } while (pageToken !== "");
    if (asJson) context.print(messageListText(AuditFaultSchema, faults));
    else for (const fault of faults) context.print(faultLine(fault));
    if (options.heads)
      for (const { projectId, length, hash } of heads) context.print(`${projectId || "-"} ${length} ${hash}`);
    const events = checked === 1 ? "1 event" : `${checked} events`;
    if (faults.length > 0) throw new CommandError(`${faults.length} problems in ${events}: the audit log was changed`);
    if (!asJson) context.note(`${events} in ${heads.length === 1 ? "1 chain" : `${heads.length} chains`}: unchanged`);
  },
);

function faultLine({ projectId, position, eventId, kind, message }: AuditFault): string {
  return [kind, projectId || "-", position || "-", eventId || "-", plainText(message)].join(" ");
}

/** The commands `svc audit list|verify`, for the log of who did what in the deployment. */
export const addAuditCommand = topic({
  says: "list who did what, and check that the audit log is unchanged, as the administrator",
  examples: ["svc audit", "svc audit verify"],
  commands: {
    list: list(AdminService.method.listAuditEvents, {
      says: "list who did what, newest first",
      isDefault: true,
      options: [
        ["--project <id>", "only actions in this project or on it", { fills: "projectId" }],
        ["--actor <actor>", "only actions of admin, or of this key or job"],
        ["--action <action>", "only this action, such as AdminService.CreateApiKey or ToolCall.Send"],
        ["--since <time>", "only from this time on, such as 2026-03-14T09:00:00Z, or 2h for two hours ago"],
        ["--until <time>", "only before this time"],
        ["--limit <count>", "largest number of events to list", { parse: parseCount, default: 100 }],
      ],
      rows: "events",
      table: {
        AT: "at",
        PROJECT: ({ projectId }) => projectId || "-",
        ACTOR: ({ actor }) => actor,
        ACTION: ({ action }) => action,
        SUBJECT: "subject",
        OUTCOME: ({ outcome }) => outcome,
      },
      json: "the events as a JSON list",
      examples: ["svc audit list", "svc audit list --action AdminService.CreateApiKey --since 30d"],
    }),
    verify: addAuditVerify,
  },
});
