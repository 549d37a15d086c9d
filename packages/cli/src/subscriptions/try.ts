import { type TryNowRequest, TryNowResponseSchema } from "@svc/gen/triggers";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";

type TryOptions = ProjectOptions & JsonOption;

/** Adds `svc subscriptions try`. */
export function addSubscriptionTry(subscriptions: Command, context: CommandContext): void {
  const command = subscriptions
    .command("try")
    .description("send what waits for a subscription now, in place of waiting for its next attempts")
    .argument("<id>", "id of the subscription, sub_…")
    .action((subscriptionId: string, options: TryOptions) => tryNow({ subscriptionId }, options, context));
  addExamples(addProjectOptions(addJson(command, "the answer as JSON")), [
    "svc subscriptions try sub_01h455vb4pex5vsknk084sn02q",
  ]);
}

/** Makes what waits due now, and says what follows. */
export async function tryNow(
  request: Partial<Pick<TryNowRequest, "subscriptionId" | "deliveryId">>,
  options: TryOptions,
  context: CommandContext,
): Promise<void> {
  const { triggers } = await openProjectClient(options, context);
  const answer = await triggers.tryNow(request);
  if (options.json) return context.print(messageText(TryNowResponseSchema, answer));
  context.print(`${answer.count} ${answer.count === 1 ? "delivery is" : "deliveries are"} due now`);
  if (answer.count > 0 && answer.subscription?.health?.failingSince !== undefined)
    context.note("The endpoint failed last: one delivery tests it, and the others follow when that one succeeds.");
  const what = request.deliveryId === undefined ? "list --subscription" : "show";
  context.note(`\`svc deliveries ${what} ${request.deliveryId ?? request.subscriptionId}\` shows how it goes.`);
}
