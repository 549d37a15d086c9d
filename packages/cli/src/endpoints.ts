import { IngestEndpointSchema } from "@svc/gen/triggers";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions, serverUrl } from "./client/open-client.ts";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addJson, type JsonOption } from "./command/options.ts";
import { messageListText } from "./text/message.ts";
import { tableLines } from "./text/table.ts";

/** Adds `svc endpoints`. */
export function addEndpointsCommand(program: Command, context: CommandContext): void {
  const endpoints = program
    .command("endpoints")
    .description("list where providers post events to, and which of those the deployment holds a secret for")
    .action((options: ProjectOptions & JsonOption) => listEndpoints(options, context));
  addExamples(addProjectOptions(addJson(endpoints, "the inbound paths as a JSON list")), [
    "svc endpoints",
    "svc endpoints --json | jq '.[] | select(.secretSet | not)'",
  ]);
}

async function listEndpoints(options: ProjectOptions & JsonOption, context: CommandContext): Promise<void> {
  const { triggers } = await openProjectClient(options, context);
  const { endpoints } = await triggers.listIngestEndpoints({});
  if (options.json) return context.print(messageListText(IngestEndpointSchema, endpoints));
  const base = serverUrl(options, context);
  const rows = endpoints.map(({ toolkitSlug, path, scheme, secretEnv, secretSet }) => {
    return [toolkitSlug, scheme, secretEnv, secretSet ? "yes" : "no", `${base}${path}`];
  });
  for (const line of tableLines(["TOOLKIT", "SCHEME", "SECRET", "SET", "URL"], rows)) context.print(line);
  if (endpoints.some(({ secretSet }) => !secretSet)) {
    context.note("Posts to a path whose secret is not set are refused: set its variable for the server.");
  }
}
