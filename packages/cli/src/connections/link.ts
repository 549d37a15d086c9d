import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { systemClock } from "@svc/core";
import { CreateConnectLinkResponseSchema } from "@svc/gen/connections";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseSpan } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { timeText } from "../text/table.ts";

type LinkOptions = ProjectOptions &
  JsonOption & { entity: string; scheme?: string; redirectUrl?: string; expiresIn?: number };

/** Adds `svc connections link`. */
export function addConnectionLink(connections: Command, context: CommandContext): void {
  const link = connections
    .command("link")
    .description("make a link by which a person without a key connects an account, and print it; it is shown here only")
    .argument("<toolkit>", "slug of the toolkit")
    .requiredOption("--entity <id>", "whose account it will be")
    .option("--scheme <scheme>", "scheme of the toolkit, where it declares several")
    .option("--redirect-url <url>", "of oauth2: where the person's browser ends up")
    .option(
      "--expires-in <duration>",
      "how long it is good, such as 2d or PT12H, 7 days at most (default: those)",
      parseSpan,
    )
    .action((toolkitSlug: string, options: LinkOptions) => makeLink(toolkitSlug, options, context));
  addExamples(addProjectOptions(addJson(link, "the link as JSON")), ["svc connections link calendar --entity ada"]);
}

async function makeLink(toolkitSlug: string, options: LinkOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const { entity: entityId, scheme = "", redirectUrl = "", expiresIn } = options;
  const made = await client.connections.createConnectLink({
    ...{ toolkitSlug, entityId, scheme, redirectUrl },
    ...(expiresIn === undefined ? {} : { expiresAt: timestampFromMs(systemClock.now() + expiresIn) }),
  });
  context.print(options.json ? messageText(CreateConnectLinkResponseSchema, made) : made.url);
  context.note(`Good until ${timeText(made.expiresAt)}, for who holds it.`);
}
