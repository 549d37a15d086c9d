import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";

/** Adds `svc subscriptions delete`. */
export function addSubscriptionDelete(subscriptions: Command, context: CommandContext): void {
  const remove = subscriptions
    .command("delete")
    .description("delete a subscription and end its pending deliveries; events and past deliveries stay")
    .argument("<id>", "id of the subscription, sub_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { triggers } = await openProjectClient(options, context);
      await triggers.deleteSubscription({ id });
      context.print(options.json ? JSON.stringify({ deleted: id }) : `${id} is deleted`);
    });
  addExamples(addProjectOptions(addJson(remove, "the id as JSON")), [
    "svc subscriptions delete sub_01h455vb4pex5vsknk084sn02q",
  ]);
}
