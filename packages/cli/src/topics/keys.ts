import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { roles, systemClock } from "@svc/core";
import { AdminService } from "@svc/gen/admin";
import { findProjectId } from "../command/client.ts";
import type { Run } from "../command/declared.ts";
import { parseSpan, parseText } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { boundText, confirmText, keyStateText, roleOf, roleText } from "../text/bound.ts";
import { timeText } from "../text/table.ts";

const { createApiKey, listApiKeys, revokeApiKey } = AdminService.method;
const exampleId = "key_01h455vb4pex5vsknk084sn02q";

type CreateValues = { readonly project: string; readonly role: string; readonly expiresIn?: number };

/** The commands `svc keys create|list|revoke`, for the API keys of projects. */
export const addKeysCommand = topic({
  says: "create, list and revoke API keys, as the administrator",
  examples: ["svc keys create --project billing --name deploy", `svc keys revoke ${exampleId}`],
  commands: {
    create: call(createApiKey, {
      says: "create an API key and print it; svc does not show it again",
      options: [
        ["--project <id or name>", "project that the key belongs to", { default: "default" }],
        ["--role <role>", "what the key may do", { choices: roles, default: "member" }],
        ["--name <text>", "purpose of the key", { default: "svc keys create" }],
        [
          "--expires-in <duration>",
          "how long the key is valid, such as 90d or PT12H (default: forever)",
          { parse: parseSpan },
        ],
        [
          "--entity <id>",
          "the only entity that the key can use: your own id of the user (default: every entity)",
          { fills: "entityId", parse: parseText },
        ],
        [
          "--access <classes>",
          "the classes of tools that the key can use, such as read,write (default: all)",
          { fills: "accessClasses", default: [] },
        ],
        [
          "--toolkits <slugs>",
          "the toolkits that the key can use, such as calendar,sales_crm (default: all)",
          { fills: "toolkitSlugs", default: [] },
        ],
        [
          "--agent-tools <groups>",
          "further abilities over MCP: programs, connect, operate, repair (default: none)",
          { default: [] },
        ],
      ],
      hasConfirm: true,
      request: async ({ admin, values: { project, role, expiresIn } }: Run<CreateValues>) => ({
        projectId: await findProjectId(admin(), project),
        role: roleOf(role),
        ...(expiresIn === undefined ? {} : { expiresAt: timestampFromMs(systemClock.now() + expiresIn) }),
      }),
      json: "the key with its text as JSON",
      shows: ({ key }) => key,
      notes: ({ apiKey }, { values: { role } }) =>
        `${apiKey?.id} (${role}) of project ${apiKey?.projectId}. Keep the key: it is not shown again.`,
      examples: [
        "svc keys create",
        "svc keys create --entity ada --access read,write --toolkits calendar",
        "svc keys create --name assistant --agent-tools programs,connect",
        "svc keys create --name assistant --confirm destructive --confirm-by lead",
        "svc keys create --project billing --role approver --name deploy --expires-in 90d",
        "export SVC_API_KEY=$(svc keys create --name my-shell)",
      ],
    }),
    list: list(listApiKeys, {
      says: "list the keys of a project without their text, newest first",
      options: [
        ["--project <id or name>", "project that the keys belong to", { default: "default" }],
        ["--of-portal-links", "list only the keys of portal links (default: all other keys)"],
      ],
      request: async ({ admin, values: { project } }: Run<{ readonly project: string }>) => ({
        projectId: await findProjectId(admin(), project),
      }),
      rows: "apiKeys",
      table: {
        ID: "id",
        ROLE: ({ role }) => roleText(role),
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
      says: "revoke a key",
      takes: { "<id>": "id of the key, key_…" },
      result: "apiKey",
      json: "the key as JSON",
      shows: ({ apiKey }) => `${apiKey?.id} was revoked at ${timeText(apiKey?.revokedAt)}`,
      examples: [`svc keys revoke ${exampleId}`],
    }),
  },
});
