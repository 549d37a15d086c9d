import { AdminService, type AuditFault, AuditFaultSchema, type AuditHead } from "@svc/gen/admin";
import type { AdminOptions } from "../command/client.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import type { JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";

type VerifyOptions = AdminOptions & JsonOption & { heads?: true };

/** Adds `svc audit verify`. */
export const addAuditVerify = command(
  AdminService.method.verifyAuditLog,
  {
    says: "compare every event with its chain: what was changed, removed or moved is named, and the exit code is 1",
    options: [["--heads", "print the end of every chain, to be noted elsewhere"]],
    json: "what is wrong as a JSON list",
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
    if (faults.length > 0) throw new CommandError(`${faults.length} faults in ${events}: the audit log was changed`);
    if (!asJson)
      context.note(`${events} in ${heads.length === 1 ? "1 chain" : `${heads.length} chains`}: as they were written`);
  },
);

function faultLine({ projectId, position, eventId, kind, message }: AuditFault): string {
  return [kind, projectId || "-", position || "-", eventId || "-", plainText(message)].join(" ");
}
