import { EventSchema } from "@svc/gen/triggers";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { indentJson } from "../text/json.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { factLines, timeText } from "../text/table.ts";

/** Adds `svc events show`. */
export function addEventShow(events: Command, context: CommandContext): void {
  const show = events
    .command("show")
    .description("show one event with its normalized payload")
    .argument("<id>", "id of the event, evt_…")
    .action((id: string, options: ProjectOptions & JsonOption) => showEvent(id, options, context));
  addExamples(addProjectOptions(addJson(show, "the event as JSON")), [
    "svc events show evt_01h455vb4pex5vsknk084sn02q",
    "svc events show evt_01h455vb4pex5vsknk084sn02q --json | jq -r .payloadJson",
  ]);
}

async function showEvent(id: string, options: ProjectOptions & JsonOption, context: CommandContext): Promise<void> {
  const { triggers } = await openProjectClient(options, context);
  const { event } = await triggers.getEvent({ id });
  if (event === undefined) return;
  if (options.json) return context.print(messageText(EventSchema, event));
  const facts = [
    ["event", event.id],
    ["trigger", event.triggerSlug || "none: a test event"],
    ["entity", plainText(event.entityId)],
    ["received", timeText(event.receivedAt)],
    ["occurred", timeText(event.occurredAt)],
  ] as const;
  for (const line of factLines(facts)) context.print(line);
  context.print("\nPayload:");
  context.print(indentJson(event.payloadJson));
}
