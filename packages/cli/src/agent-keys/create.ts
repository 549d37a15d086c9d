import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { CreateAgentKeyResponseSchema } from "@svc/gen/grants";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
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
import { boundText } from "../text/bound.ts";
import { messageText } from "../text/message.ts";
import { timeText } from "../text/table.ts";

type CreateOptions = ProjectOptions &
  ConfirmOptions &
  JsonOption & { name: string; expiresIn?: number; entity?: string; access: string[]; toolkits: string[] };

/** Adds `svc agent-keys create`. */
export function addAgentKeyCreate(keys: Command, context: CommandContext): void {
  const create = keys
    .command("create")
    .description("make a key for an agent of one user or of some toolkits, and print it; it is shown here only")
    .option("--entity <id>", "the one entity that it reaches: your own id of the user", parseText)
    .option("--toolkits <slugs>", "the toolkits it may use, such as calendar,sales_crm", parseWords, [])
    .option("--access <classes>", "the classes of tools it may use, such as read,write (default: all)", parseWords, [])
    .option("--expires-in <duration>", "how long it is valid, at most 24h (default: 1h)", parseSpan)
    .option("--name <text>", "what the key is for", "svc agent-keys create")
    .action((options: CreateOptions) => createKey(options, context));
  addConfirm(create);
  addExamples(addProjectOptions(addJson(create, "the key with its text as JSON")), [
    "svc agent-keys create --entity ada",
    "svc agent-keys create --entity ada --access read,write --toolkits calendar --expires-in 8h",
    "svc agent-keys create --entity ada --confirm destructive --confirm-by lead",
    "export SVC_API_KEY=$(svc agent-keys create --entity ada)",
  ]);
}

/** The key alone goes to standard output, so that a shell can keep it in a variable. */
async function createKey(options: CreateOptions, context: CommandContext): Promise<void> {
  const { grants } = await openProjectClient(options, context);
  const created = await grants.createAgentKey({
    name: options.name,
    entityId: options.entity ?? "",
    accessClasses: options.access,
    toolkitSlugs: options.toolkits,
    ...confirmOf(options),
    ...(options.expiresIn !== undefined && { lifetime: durationFromMs(options.expiresIn) }),
  });
  const { apiKey, key } = created;
  context.print(options.json ? messageText(CreateAgentKeyResponseSchema, created) : key);
  if (apiKey === undefined) return;
  const until = `valid until ${timeText(apiKey.expiresAt)}`;
  context.note(`${apiKey.id} (${boundText(apiKey)}), ${until}. Keep the key: it is not shown again.`);
}
