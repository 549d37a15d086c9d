import { CreateAskEndpointResponseSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { factLines } from "../text/table.ts";

type CreateOptions = ProjectOptions & JsonOption & { readonly eventType: string[] };

/** Adds `svc ask-endpoints create`. */
export function addAskEndpointCreate(endpoints: Command, context: CommandContext): void {
  const create = endpoints
    .command("create")
    .description("publish every question to an endpoint, and print the id and the secret that signs what it is sent")
    .argument("<url>", "endpoint that questions are posted to; https, unless its host is loopback")
    .option(
      "--event-type <type...>",
      "what is posted: ask_raised, standing_paused, standing_missed, standing_budget, standing_start_failed",
      [],
    )
    .action((url: string, options: CreateOptions) => createEndpoint(url, options, context));
  addExamples(addProjectOptions(addJson(create, "the endpoint and its secret as JSON")), [
    "svc ask-endpoints create https://hooks.example.com/asks",
    "svc ask-endpoints create https://hooks.example.com/ops --event-type standing_paused standing_missed",
  ]);
}

async function createEndpoint(endpointUrl: string, options: CreateOptions, context: CommandContext): Promise<void> {
  const { jobs } = await openProjectClient(options, context);
  const created = await jobs.createAskEndpoint({ endpointUrl, eventTypes: options.eventType });
  if (options.json) context.print(messageText(CreateAskEndpointResponseSchema, created));
  else {
    const { askEndpoint, signingSecret } = created;
    const facts = [["ask endpoint", askEndpoint?.id ?? ""] as const, ["signing secret", signingSecret] as const];
    for (const line of factLines(facts)) context.print(line);
  }
  context.note("Keep the secret: it is not shown again.");
}
