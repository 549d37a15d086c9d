import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { systemClock } from "@svc/core";
import { CreateApiKeyResponseSchema } from "@svc/gen/admin";
import { Role } from "@svc/sdk";
import { type Command, Option } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import {
  addConfirm,
  addJson,
  type ConfirmOptions,
  confirmOf,
  type JsonOption,
  parseSpan,
  parseText,
  parseWords,
} from "../command/options.ts";
import { findProjectId } from "../projects/find-project.ts";
import { messageText } from "../text/message.ts";

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
export function addKeyCreate(keys: Command, context: CommandContext): void {
  const create = keys
    .command("create")
    .description("issue an API key and print it; it is shown here only")
    .option("--project <id or name>", "project that the key belongs to", "default")
    .addOption(new Option("--role <role>", "what the key may do").choices(["member", "approver"]).default("member"))
    .option("--name <text>", "what the key is for", "svc keys create")
    .option("--expires-in <duration>", "how long it is valid, such as 90d or PT12H (default: for ever)", parseSpan)
    .option(
      "--entity <id>",
      "the one entity that it reaches: your own id of the user (default: every entity)",
      parseText,
    )
    .option("--access <classes>", "the classes of tools it may use, such as read,write (default: all)", parseWords, [])
    .option("--toolkits <slugs>", "the toolkits it may use, such as calendar,sales_crm (default: all)", parseWords, [])
    .option(
      "--agent-tools <groups>",
      "what it is given over MCP beside the tools of apps: programs, connect, operate, repair (default: none)",
      parseWords,
      [],
    )
    .action((options: CreateOptions) => createKey(options, context));
  addConfirm(create);
  addExamples(addAdminOptions(addJson(create, "the key with its text as JSON")), [
    "svc keys create",
    "svc keys create --entity ada --access read,write --toolkits calendar",
    "svc keys create --name assistant --agent-tools programs,connect",
    "svc keys create --name assistant --confirm destructive --confirm-by lead",
    "svc keys create --project billing --role approver --name deploy --expires-in 90d",
    "export SVC_API_KEY=$(svc keys create --name my-shell)",
  ]);
}

/** The key alone goes to standard output, so that a shell can keep it in a variable. */
async function createKey(options: CreateOptions, context: CommandContext): Promise<void> {
  const client = openAdminClient(options, context);
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
  context.print(options.json ? messageText(CreateApiKeyResponseSchema, created) : key);
  context.note(`${apiKey?.id} (${options.role}) of project ${apiKey?.projectId}. Keep the key: it is not shown again.`);
}
