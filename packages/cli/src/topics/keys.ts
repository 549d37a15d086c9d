import { AdminService } from "@svc/gen/admin";
import { Role } from "@svc/sdk";
import type { Run } from "../command/declared.ts";
import { call, list, topic } from "../command/topic.ts";
import { addKeyCreate } from "../custom/create-key.ts";
import { findProjectId } from "../custom/projects/find-project.ts";
import { boundText, confirmText, keyStateText } from "../text/bound.ts";
import { timeText } from "../text/table.ts";

const { listApiKeys, revokeApiKey } = AdminService.method;
const exampleId = "key_01h455vb4pex5vsknk084sn02q";

/** `svc keys create|list|revoke`. */
export const addKeysCommand = topic({
  says: "issue, list and revoke API keys, as the administrator",
  examples: ["svc keys create --project billing --name deploy", `svc keys revoke ${exampleId}`],
  commands: {
    create: addKeyCreate,
    list: list(listApiKeys, {
      says: "list the keys of a project without their text, newest first",
      options: [["--project <id or name>", "project that the keys belong to", { default: "default" }]],
      request: async ({ admin, values: { project } }: Run<{ readonly project: string }>) => ({
        projectId: await findProjectId(admin(), project),
      }),
      rows: "apiKeys",
      table: {
        ID: "id",
        ROLE: ({ role }) => (role === Role.APPROVER ? "approver" : "member"),
        HINT: ({ hint }) => hint,
        STATE: keyStateText,
        "LAST USED": "lastUsedAt",
        "BOUND TO": boundText,
        CONFIRMED: ({ confirm }) => confirmText(confirm),
        "MADE BY": ({ makerKeyId }) => makerKeyId,
        NAME: ({ name }) => name,
      },
      json: "the keys as a JSON list",
      examples: ["svc keys list", "svc keys list --project billing"],
    }),
    revoke: call(revokeApiKey, {
      says: "end a key for good",
      takes: { "<id>": "id of the key, key_…" },
      result: "apiKey",
      json: "the key as JSON",
      shows: ({ apiKey }) => `${apiKey?.id} is revoked since ${timeText(apiKey?.revokedAt)}`,
      examples: [`svc keys revoke ${exampleId}`],
    }),
  },
});
