import { timestampMs } from "@bufbuild/protobuf/wkt";
import { systemClock } from "@svc/core";
import { DeliveryAttemptSchema, TriggersService } from "@svc/gen/triggers";
import type { DeliveryAttempt, SvcClient } from "@svc/sdk";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { messageText } from "../text/message.ts";
import { timeText } from "../text/table.ts";
import { attemptTable } from "../topics/deliveries.ts";

type TestOptions = { readonly wait: boolean; readonly id: string };

/** Maximum time to wait for the delivery attempt, in milliseconds. The attempt itself takes at most 15 s. */
const waitMs = 20_000;
/** Interval in milliseconds at which the command reads the delivery. */
const pollMs = 250;

/**
 * The command `svc subscriptions test`, which sends a test event to a subscription's endpoint and shows the result of the first attempt.
 */
export const addSubscriptionTest = command(
  TriggersService.method.sendTestEvent,
  {
    says: "send a test event to a subscription's endpoint, and show the result of the first attempt",
    takes: { "<id>": "id of the subscription, sub_…" },
    options: [["--no-wait", "print the delivery's id when it is queued, without waiting"]],
    json: "the attempt as JSON",
    more: "\nThe event is signed, retried and recorded like any other. The exit code is 1 if the first attempt failed.",
    examples: [
      "svc subscriptions test sub_01h455vb4pex5vsknk084sn02q",
      "svc subscriptions test sub_01h455vb4pex5vsknk084sn02q --no-wait",
    ],
  },
  async ({ values: options, context, project, asJson }: Run<TestOptions>) => {
    const { id: subscriptionId } = options;
    const client = await project();
    const { delivery } = await client.triggers.sendTestEvent({ subscriptionId });
    const id = delivery?.id ?? "";
    if (!options.wait) {
      context.print(asJson ? JSON.stringify({ deliveryId: id }) : id);
      context.note(`\`svc deliveries attempts ${id}\` shows the result.`);
      return;
    }
    const waits = delivery?.waitingReason === "endpoint_failing" && delivery.nextAttemptAt;
    if (waits && timestampMs(waits) > systemClock.now() + waitMs) {
      const until = `the endpoint is in backoff until ${timeText(waits)}`;
      throw new CommandError(
        `${id} is queued, and ${until}; \`svc subscriptions try ${subscriptionId}\` sends it at once`,
      );
    }
    context.note(`${id} is queued; waiting for its first attempt …`);
    const attempt = await firstAttempt(client, id, context.untilInterrupted());
    if (attempt === undefined) {
      throw new CommandError(`no attempt of ${id} is recorded yet; \`svc deliveries attempts ${id}\` shows later ones`);
    }
    if (asJson) context.print(messageText(DeliveryAttemptSchema, attempt));
    else for (const line of attemptTable([attempt])) context.print(line);
    if (attempt.error === "") return;
    throw new CommandError(`the endpoint did not accept it: ${attempt.error}; svc retries by its schedule`);
  },
);

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
