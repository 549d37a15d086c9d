import { ReplayEventResponseSchema, ReplayEventsResponseSchema, TriggersService } from "@svc/gen/triggers";
import { openProjectClient, type ProjectOptions } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import type { JsonOption } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { numberText } from "../../text/plain.ts";
import { deliveryTable } from "../../topics/deliveries.ts";
import { type RangeOptions, rangeOptions, rangeRequest } from "./range.ts";

type ReplayOptions = ProjectOptions & JsonOption & RangeOptions;

/** Adds `svc replay`. */
export const addReplayCommand = command(
  TriggersService.method.replayEvent,
  {
    says: "deliver an event, or those of a time, again to the active subscriptions that match them now",
    takes: { "[event]": "id of the event, evt_…; without one, the events that the options mean" },
    also: [[TriggersService.method.replayEvents, "--since"]],
    examples: [
      "svc replay evt_01h455vb4pex5vsknk084sn02q",
      "svc replay evt_01h455vb4pex5vsknk084sn02q --subscription sub_01h455vb4pex5vsknk084sn02q   # one delivery again",
      "svc replay --since 2h --only-undelivered --dry-run",
      "svc replay --since 2026-03-14T09:00:00Z --until 2026-03-14T12:00:00Z --subscription sub_01h455vb4pex5vsknk084sn02q",
    ],
    options: rangeOptions,
  },
  ({ values: options, context }: Run<ReplayOptions & { readonly event: string | undefined }>) => {
    const { event } = options;
    return event === undefined ? replayRange(options, context) : replayEvent(event, options, context);
  },
);

async function replayEvent(eventId: string, options: ReplayOptions, context: CommandContext): Promise<void> {
  const { since, until, toolkit, trigger, subscription, onlyUndelivered, dryRun } = options;
  if ([since, until, toolkit, trigger, onlyUndelivered, dryRun].some((given) => given !== undefined)) {
    const told = "one event is replayed to all that match it, or to one --subscription";
    throw new CommandError(`${told}: leave its id out to replay those of a time`, 2);
  }
  const { triggers } = await openProjectClient(options, context);
  const replayed = await triggers.replayEvent({
    eventId,
    ...(subscription !== undefined && { subscriptionId: subscription }),
  });
  if (options.json) return context.print(messageText(ReplayEventResponseSchema, replayed));
  for (const line of deliveryTable(replayed.deliveries)) context.print(line);
  for (const warning of replayed.warnings) context.note(`warning: ${warning}`);
  if (replayed.deliveries.length === 0) {
    context.note("No active subscription matches the event: nothing is queued.");
  }
}

async function replayRange(options: ReplayOptions, context: CommandContext): Promise<void> {
  const request = rangeRequest(options, "the id of one, or --since for those of a time");
  const { triggers } = await openProjectClient(options, context);
  const replayed = await triggers.replayEvents(request);
  if (options.json) return context.print(messageText(ReplayEventsResponseSchema, replayed));
  const { count, deliveries } = replayed;
  const what = `${numberText(count)} ${count === 1 ? "delivery" : "deliveries"}`;
  for (const warning of replayed.warnings) context.note(`warning: ${warning}`);
  if (request.dryRun) return context.print(`${what} would be queued`);
  for (const line of deliveryTable(deliveries)) context.print(line);
  const rest = count > deliveries.length ? `, of which the first ${deliveries.length} are listed` : "";
  context.note(`${what} queued${rest}. \`svc deliveries --subscription <id>\` tells how they went.`);
}
