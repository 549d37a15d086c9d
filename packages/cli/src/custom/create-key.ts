import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { systemClock } from "@svc/core";
import { AdminService, CreateApiKeyResponseSchema } from "@svc/gen/admin";
import { Role } from "@svc/sdk";
import type { AdminOptions } from "../command/client.ts";
import { command, type Run } from "../command/declared.ts";
import {
  type ConfirmOptions,
  confirmOf,
  type JsonOption,
  parseSpan,
  parseText,
  parseWords,
} from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { findProjectId } from "./projects/find-project.ts";

type CreateOptions = AdminOptions &
  ConfirmOptions &
  JsonOption & {
    project: string;
    role: "member" | "approver";
    name: string;
    expiresIn?: number;
    entity?: string;
    access: string[];
    toolkits: string[];
    agentTools: string[];
  };

/** Adds `svc keys create`. */
export const addKeyCreate = command(
  AdminService.method.createApiKey,
  {
    says: "issue an API key and print it; it is shown here only",
    options: [
      ["--project <id or name>", "project that the key belongs to", { default: "default" }],
      ["--role <role>", "what the key may do", { choices: ["member", "approver"], default: "member" }],
      ["--name <text>", "what the key is for", { default: "svc keys create" }],
      [
        "--expires-in <duration>",
        "how long it is valid, such as 90d or PT12H (default: for ever)",
        { parse: parseSpan },
      ],
      [
        "--entity <id>",
        "the one entity that it reaches: your own id of the user (default: every entity)",
        { parse: parseText },
      ],
      [
        "--access <classes>",
        "the classes of tools it may use, such as read,write (default: all)",
        { parse: parseWords, default: [] },
      ],
      [
        "--toolkits <slugs>",
        "the toolkits it may use, such as calendar,sales_crm (default: all)",
        { parse: parseWords, default: [] },
      ],
      [
        "--agent-tools <groups>",
        "what it is given over MCP beside the tools of apps: programs, connect, operate, repair (default: none)",
        { parse: parseWords, default: [] },
      ],
    ],
    hasConfirm: true,
    json: "the key with its text as JSON",
    examples: [
      "svc keys create",
      "svc keys create --entity ada --access read,write --toolkits calendar",
      "svc keys create --name assistant --agent-tools programs,connect",
      "svc keys create --name assistant --confirm destructive --confirm-by lead",
      "svc keys create --project billing --role approver --name deploy --expires-in 90d",
      "export SVC_API_KEY=$(svc keys create --name my-shell)",
    ],
  },
  async ({ values: options, context, admin, asJson }: Run<CreateOptions>) => {
    const client = admin();
    const created = await client.admin.createApiKey({
      projectId: await findProjectId(client, options.project),
      role: options.role === "approver" ? Role.APPROVER : Role.MEMBER,
      name: options.name,
      entityId: options.entity ?? "",
      accessClasses: options.access,
      toolkitSlugs: options.toolkits,
      agentTools: options.agentTools,
      ...confirmOf(options),
      ...(options.expiresIn === undefined ? {} : { expiresAt: timestampFromMs(systemClock.now() + options.expiresIn) }),
    });
    const { apiKey, key } = created;
    context.print(asJson ? messageText(CreateApiKeyResponseSchema, created) : key);
    context.note(
      `${apiKey?.id} (${options.role}) of project ${apiKey?.projectId}. Keep the key: it is not shown again.`,
    );
  },
);
