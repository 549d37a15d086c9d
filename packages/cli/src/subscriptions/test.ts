import { systemClock } from "@svc/core";
import { DeliveryAttemptSchema } from "@svc/gen/triggers";
import type { DeliveryAttempt, SvcClient } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { attemptTable } from "../deliveries/attempts.ts";
import { messageText } from "../text/message.ts";
import { timeText } from "../text/table.ts";

type TestOptions = ProjectOptions & JsonOption & { wait: boolean };

/** An attempt takes 15 s at most; how often its record is looked for, milliseconds. */
const waitMs = 20_000;
const pollMs = 250;

/** Adds `svc subscriptions test`. */
export function addSubscriptionTest(subscriptions: Command, context: CommandContext): void {
  const send = subscriptions
    .command("test")
    .description("send a subscription's endpoint a test event, and show what it answered to the first attempt")
    .argument("<id>", "id of the subscription, sub_…")
    .option("--no-wait", "print the delivery's id once it is queued, and wait for nothing")
    .action((id: string, options: TestOptions) => sendTestEvent(id, options, context));
  addProjectOptions(addJson(send, "the attempt as JSON")).addHelpText(
    "after",
    "\nThe event is signed, tried again and recorded as any other. Ends with 1 when the first attempt failed.",
  );
  addExamples(send, [
    "svc subscriptions test sub_01h455vb4pex5vsknk084sn02q",
    "svc subscriptions test sub_01h455vb4pex5vsknk084sn02q --no-wait",
  ]);
}

async function sendTestEvent(subscriptionId: string, options: TestOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const { delivery } = await client.triggers.sendTestEvent({ subscriptionId });
  const id = delivery?.id ?? "";
  if (!options.wait) {
    context.print(options.json ? JSON.stringify({ deliveryId: id }) : id);
    context.note(`\`svc deliveries attempts ${id}\` tells how it went.`);
    return;
  }
  if (delivery?.waitingReason === "endpoint_failing") {
    const until = `the endpoint is backing off until ${timeText(delivery.nextAttemptAt)}`;
    throw new CommandError(
      `${id} is queued, and ${until}; \`svc subscriptions try ${subscriptionId}\` sends it at once`,
    );
  }
  context.note(`${id} is queued; waiting for its first attempt …`);
  const attempt = await firstAttempt(client, id, context.untilInterrupted());
  if (attempt === undefined) {
    throw new CommandError(`no attempt of ${id} is recorded yet; \`svc deliveries attempts ${id}\` looks again`);
  }
  if (options.json) context.print(messageText(DeliveryAttemptSchema, attempt));
  else for (const line of attemptTable([attempt])) context.print(line);
  if (attempt.error === "") return;
  throw new CommandError(`the endpoint did not take it: ${attempt.error}; svc tries again by its schedule`);
}

async function firstAttempt(
  { triggers }: SvcClient,
  deliveryId: string,
  signal: AbortSignal,
): Promise<DeliveryAttempt | undefined> {
  const untilMs = systemClock.now() + waitMs;
  while (systemClock.now() < untilMs && !signal.aborted) {
    const { attempts } = await triggers.listDeliveryAttempts({ deliveryId });
    const first = attempts.find(({ number }) => number === 1);
    if (first !== undefined) return first;
    await systemClock.wait(pollMs, signal);
  }
  return undefined;
}
