import { AdminService } from "@svc/gen/admin";
import { parseCount } from "../command/options.ts";
import { list, topic } from "../command/topic.ts";
import { addAuditVerify } from "../custom/verify-audit.ts";

/** `svc audit list|verify`. */
export const addAuditCommand = topic({
  says: "list who did what, and check that nothing of it was changed, as the administrator",
  examples: ["svc audit", "svc audit verify"],
  commands: {
    list: list(AdminService.method.listAuditEvents, {
      says: "list who did what, newest first",
      isDefault: true,
      options: [
        ["--project <id>", "only what was done in or to this project", { fills: "projectId" }],
        ["--actor <actor>", "only what was done by admin, or by this key or job"],
        ["--action <action>", "only this, such as AdminService.CreateApiKey or ToolCall.Send"],
        ["--since <time>", "only from this time on, such as 2026-03-14T09:00:00Z or 2h ago (2h)"],
        ["--until <time>", "only before this time"],
        ["--limit <count>", "most events to list", { parse: parseCount, default: 100 }],
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
