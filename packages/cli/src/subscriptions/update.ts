import { SubscriptionSchema } from "@svc/gen/triggers";
import { type Command, Option } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { subscriptionTable } from "./list.ts";

type UpdateOptions = ProjectOptions & JsonOption & { endpoint?: string; activate?: true; deactivate?: true };

/** Adds `svc subscriptions update`. */
export function addSubscriptionUpdate(subscriptions: Command, context: CommandContext): void {
  const update = subscriptions
    .command("update")
    .description("change a subscription's endpoint, or whether it receives deliveries; the rest stays as it is")
    .argument("<id>", "id of the subscription, sub_…")
    .option("--endpoint <url>", "where deliveries are posted from now on")
    .option("--activate", "receive deliveries again; what was missed is not queued")
    .addOption(
      new Option("--deactivate", "receive none, and end those that are pending for good").conflicts("activate"),
    )
    .action((id: string, options: UpdateOptions) => updateSubscription(id, options, context));
  addExamples(addProjectOptions(addJson(update, "the subscription as JSON")), [
    "svc subscriptions update sub_01h455vb4pex5vsknk084sn02q --endpoint https://hooks.example.com/v2",
    "svc subscriptions update sub_01h455vb4pex5vsknk084sn02q --activate",
  ]);
}

async function updateSubscription(id: string, options: UpdateOptions, context: CommandContext): Promise<void> {
  const { endpoint, activate, deactivate } = options;
  if (endpoint === undefined && !activate && !deactivate) {
    throw new CommandError("nothing to change: give --endpoint, --activate or --deactivate", 2);
  }
  const { triggers } = await openProjectClient(options, context);
  const { subscription } = await triggers.updateSubscription({
    id,
    ...(endpoint !== undefined && { endpointUrl: endpoint }),
    ...((activate || deactivate) && { active: activate === true }),
  });
  if (subscription === undefined) return;
  if (options.json) context.print(messageText(SubscriptionSchema, subscription));
  else for (const line of subscriptionTable([subscription])) context.print(line);
  if (activate) context.note(`\`svc replay --since <when> --subscription ${id}\` brings back what it missed.`);
}
