import { DeliveryAttemptSchema } from "@svc/gen/triggers";
import type { DeliveryAttempt } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

/** Adds `svc deliveries attempts`. */
export function addDeliveryAttempts(deliveries: Command, context: CommandContext): void {
  const attempts = deliveries
    .command("attempts")
    .description("list every attempt of a delivery, the latest first: what was dialled and what came back")
    .argument("<id>", "id of the delivery, dlv_…; of an ask endpoint's too")
    .action((id: string, options: ProjectOptions & JsonOption) => listAttempts(id, options, context));
  addExamples(
    addProjectOptions(addJson(attempts, "the attempts with the answers' headers and bodies as a JSON list")),
    [
      "svc deliveries attempts dlv_01h455vb4pex5vsknk084sn02q",
      "svc deliveries attempts dlv_01h455vb4pex5vsknk084sn02q --json | jq -r .[0].responseBody",
    ],
  );
}

async function listAttempts(
  deliveryId: string,
  options: ProjectOptions & JsonOption,
  context: CommandContext,
): Promise<void> {
  const { triggers } = await openProjectClient(options, context);
  const { attempts } = await triggers.listDeliveryAttempts({ deliveryId });
  if (options.json) return context.print(messageListText(DeliveryAttemptSchema, attempts));
  for (const line of attemptTable(attempts)) context.print(line);
  if (attempts.length === 0) context.note("No attempt was made yet.");
}

/** Attempts as a table. The answers are others' words: their beginning stands on one line. */
export function attemptTable(attempts: readonly DeliveryAttempt[]): string[] {
  const rows = attempts.map(({ number, at, statusCode, error, durationMs, address, responseBody }) => [
    String(number),
    timeText(at),
    statusCode === 0 ? "-" : String(statusCode),
    error || "-",
    String(durationMs),
    address || "-",
    plainText(responseBody.slice(0, 60)) || "-",
  ]);
  return tableLines(["ATTEMPT", "AT", "HTTP", "ERROR", "MS", "ADDRESS", "ANSWER"], rows);
}
