import { CreateSubscriptionResponseSchema } from "@svc/gen/triggers";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { factLines } from "../text/table.ts";

type CreateOptions = ProjectOptions & JsonOption & { toolkit?: string; trigger?: string };

/** Adds `svc subscriptions create`. */
export function addSubscriptionCreate(subscriptions: Command, context: CommandContext): void {
  const create = subscriptions
    .command("create")
    .description("subscribe an endpoint to events, and print the id and the secret that signs what it is sent")
    .argument("<url>", "endpoint that deliveries are posted to; https, unless its host is loopback")
    .option("--toolkit <slug>", "only events of this toolkit (default: of all)")
    .option("--trigger <slug>", "only events of this trigger, such as calendar.events_changed (default: of all)")
    .action((url: string, options: CreateOptions) => createSubscription(url, options, context));
  addExamples(addProjectOptions(addJson(create, "the subscription and its secret as JSON")), [
    "svc subscriptions create https://hooks.example.com/svc",
    "svc subscriptions create http://localhost:3000/hook --trigger calendar.events_changed",
  ]);
}

async function createSubscription(url: string, options: CreateOptions, context: CommandContext): Promise<void> {
  const { triggers } = await openProjectClient(options, context);
  const { toolkit = "", trigger: triggerSlug = "" } = options;
  // A catalog-wide slug names its toolkit.
  const [ownToolkit = ""] = triggerSlug.includes(".") ? triggerSlug.split(".") : [];
  const request = { endpointUrl: url, toolkitSlug: toolkit === "" ? ownToolkit : toolkit, triggerSlug };
  const created = await triggers.createSubscription(request);
  const { subscription, signingSecret } = created;
  if (options.json) context.print(messageText(CreateSubscriptionResponseSchema, created));
  else {
    const facts = [["subscription", subscription?.id ?? ""] as const, ["signing secret", signingSecret] as const];
    for (const line of factLines(facts)) context.print(line);
  }
  for (const warning of created.warnings) context.note(`Warning: ${plainText(warning)}`);
  context.note("Keep the secret: it is not shown again.");
  context.note(`\`svc subscriptions test ${subscription?.id}\` sends the endpoint a test event.`);
}
