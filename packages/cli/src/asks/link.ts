import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { systemClock } from "@svc/core";
import { CreateAnswerLinkResponseSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseSpan } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { timeText } from "../text/table.ts";
import { findAsk } from "./find-ask.ts";

type LinkOptions = ProjectOptions & JsonOption & { as: string; expiresIn?: number };

/** Adds `svc asks link`. */
export function addAskLink(asks: Command, context: CommandContext): void {
  const link = asks
    .command("link")
    .description(
      "make a link by which a contact without a key answers one question, and print it; it is shown here only",
    )
    .argument("<id>", "id of the question, ask_…")
    .requiredOption("--as <principal>", "the contact that may answer by it; one that the question has reached")
    .option(
      "--expires-in <duration>",
      "how long it is good, such as 2d or PT12H, 30 days at most (default: those)",
      parseSpan,
    )
    .action((id: string, options: LinkOptions) => makeLink(id, options, context));
  addExamples(addProjectOptions(addJson(link, "the link as JSON")), [
    "svc asks link ask_01h455vb4pex5vsknk084sn02q --as lead",
  ]);
}

async function makeLink(id: string, options: LinkOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const { jobId, requestId } = await findAsk(client, id);
  const { as: principalId, expiresIn } = options;
  const made = await client.jobs.createAnswerLink({
    ...{ jobId, requestId, principalId },
    ...(expiresIn === undefined ? {} : { expiresAt: timestampFromMs(systemClock.now() + expiresIn) }),
  });
  context.print(options.json ? messageText(CreateAnswerLinkResponseSchema, made) : made.url);
  context.note(`Good until ${timeText(made.expiresAt)}, for who holds it. Send it to ${principalId} alone.`);
}
