import { timestampMs } from "@bufbuild/protobuf/wkt";
import { systemClock } from "@svc/core";
import type { ApiKey } from "@svc/gen/admin";
import { GrantsService } from "@svc/gen/grants";
import { parseText } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { boundText, confirmText, keyStateText } from "../text/bound.ts";
import { timeText } from "../text/table.ts";

const { createAgentKey, listAgentKeys, revokeAgentKey } = GrantsService.method;

/** The commands `svc agent-keys create|list|revoke`, for short-lived keys of agents. */
export const addAgentKeysCommand = topic({
  says: "create, list and revoke short-lived keys for agents, with an approver's key",
  examples: [
    "svc agent-keys create --entity ada",
    "svc agent-keys",
    "svc agent-keys revoke key_01h455vb4pex5vsknk084sn02q",
  ],
  commands: {
    create: call(createAgentKey, {
      says: "create a key for an agent of one user or for some toolkits, and print it; svc does not show it again",
      options: [
        [
          "--entity <id>",
          "the only entity that the key can use: your own id of the user",
          { fills: "entityId", parse: parseText },
        ],
        [
          "--toolkits <slugs>",
          "the toolkits that the key can use, such as calendar,sales_crm",
          { fills: "toolkitSlugs", default: [] },
        ],
        [
          "--access <classes>",
          "the classes of tools that the key can use, such as read,write (default: all)",
          { fills: "accessClasses", default: [] },
        ],
        ["--expires-in <duration>", "how long the key is valid, at most 24h (default: 1h)", { fills: "lifetime" }],
        ["--name <text>", "purpose of the key", { default: "svc agent-keys create" }],
      ],
      hasConfirm: true,
      json: "the key with its text as JSON",
      // Standard output contains only the key, so that a shell can store it in a variable.
      shows: ({ key }) => key,
      notes: ({ apiKey }) => {
        if (apiKey === undefined) return [];
        const until = `valid until ${timeText(apiKey.expiresAt)}`;
        return `${apiKey.id} (${boundText(apiKey)}), ${until}. Keep the key: it is not shown again.`;
      },
      examples: [
        "svc agent-keys create --entity ada",
        "svc agent-keys create --entity ada --access read,write --toolkits calendar --expires-in 8h",
        "svc agent-keys create --entity ada --confirm destructive --confirm-by lead",
        "export SVC_API_KEY=$(svc agent-keys create --entity ada)",
      ],
    }),
    list: list(listAgentKeys, {
      says: "list the keys that your key created for agents, newest first, without their text",
      isDefault: true,
      options: [["--all", "also expired and revoked keys"]],
      keeps: (key, { all }) => all === true || isValid(key),
      rows: "apiKeys",
      table: {
        ID: "id",
        HINT: ({ hint }) => hint,
        STATE: keyStateText,
        "LAST USED": "lastUsedAt",
        "BOUND TO": boundText,
        CONFIRMED: ({ confirm }) => confirmText(confirm),
        NAME: "name",
      },
      json: "the keys as a JSON list",
      examples: ["svc agent-keys list", "svc agent-keys list --all"],
    }),
    revoke: call(revokeAgentKey, {
      says: "revoke a key that your key created",
      takes: { "<id>": "id of the key, key_…" },
      result: "apiKey",
      json: "the key as JSON",
      shows: ({ apiKey }) => `${apiKey?.id} was revoked at ${timeText(apiKey?.revokedAt)}`,
      examples: ["svc agent-keys revoke key_01h455vb4pex5vsknk084sn02q"],
    }),
  },
});

function isValid({ revokedAt, expiresAt }: ApiKey): boolean {
  return revokedAt === undefined && expiresAt !== undefined && timestampMs(expiresAt) > systemClock.now();
}
