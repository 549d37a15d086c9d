import { GrantSchema } from "@svc/gen/grants";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import {
  addConfirm,
  addJson,
  type ConfirmOptions,
  confirmOf,
  type JsonOption,
  parseWords,
} from "../command/options.ts";
import { confirmText } from "../text/bound.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";

type UpdateOptions = ProjectOptions &
  JsonOption &
  ConfirmOptions & { access: string[]; toolkits: string[]; agentTools: string[] };

/** Adds `svc grants update`. */
export function addGrantUpdate(grants: Command, context: CommandContext): void {
  const update = grants
    .command("update")
    .alias("narrow")
    .description("narrow what a grant may do; its tokens stay good")
    .argument("<id>", "id of the grant")
    .option(
      "--access <classes>",
      "the classes that it keeps, comma separated: read, write, destructive",
      parseWords,
      [],
    )
    .option("--toolkits <slugs>", "the toolkits that it keeps, comma separated", parseWords, [])
    .option(
      "--agent-tools <groups>",
      "what it keeps beside the tools of apps, comma separated: programs, connect, operate, repair; or none",
      parseWords,
      [],
    )
    .action(async (id: string, options: UpdateOptions) => {
      const { grants: client } = await openProjectClient(options, context);
      const { access: accessClasses, toolkits: toolkitSlugs, agentTools } = options;
      const bounds = { accessClasses, toolkitSlugs, agentTools };
      const { grant } = await client.updateGrant({ id, ...bounds, ...confirmOf(options) });
      if (grant === undefined || options.json) {
        context.print(grant === undefined ? "" : messageText(GrantSchema, grant));
        return;
      }
      const toolkits = grant.toolkitSlugs.join(", ") || "all toolkits";
      const confirmed = confirmText(grant.confirm);
      const beside = grant.agentTools.length === 0 ? "" : `, and ${grant.agentTools.join(", ")}`;
      const may = `${plainText(id)} may ${grant.accessClasses.join(", ")} with ${toolkits}${beside}`;
      context.print(confirmed === "" ? may : `${may}; confirmed: ${confirmed}`);
    });
  addConfirm(update);
  addExamples(addProjectOptions(addJson(update, "the grant as JSON")), [
    "svc grants update grt_01h455vb4pex5vsknk084sn02q --access read",
    "svc grants update grt_01h455vb4pex5vsknk084sn02q --toolkits calendar,sales_crm",
    "svc grants update grt_01h455vb4pex5vsknk084sn02q --confirm destructive --confirm-by lead",
  ]);
}
