import { HookSchema } from "@svc/gen/tools";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { parsePosition } from "./position.ts";

type UpdateOptions = ProjectOptions &
  JsonOption & { endpoint?: string; position?: number; pause?: true; resume?: true };

/** Adds `svc hooks update`. */
export function addHookUpdate(hooks: Command, context: CommandContext): void {
  const update = hooks
    .command("update")
    .description("change where a hook is asked, its place, or whether it is asked at all; its secret stays")
    .argument("<id>", "id of the hook, hok_…")
    .option("--endpoint <url>", "address that is asked from now on")
    .option("--position <number>", "its place among those of its phase, the lowest first", parsePosition)
    .option("--pause", "ask it no more; calls go on without it")
    .option("--resume", "ask it again")
    .action(async (id: string, options: UpdateOptions) => {
      const { tools } = await openProjectClient(options, context);
      const { endpoint: endpointUrl = "", position } = options;
      const active = options.pause === options.resume ? undefined : options.resume === true;
      const change = { ...(active !== undefined && { active }), ...(position !== undefined && { position }) };
      const { hook } = await tools.updateHook({ id, endpointUrl, ...change });
      if (hook === undefined) return;
      if (options.json) return context.print(messageText(HookSchema, hook));
      const state = hook.active ? "is asked" : "is not asked";
      context.print(`${hook.id} ${state} ${hook.phase} calls at ${plainText(hook.endpointUrl)}`);
    });
  addExamples(addProjectOptions(addJson(update, "the hook as JSON")), [
    "svc hooks update hok_01h455vb4pex5vsknk084sn02q --pause",
    "svc hooks update hok_01h455vb4pex5vsknk084sn02q --endpoint https://hooks.example.com/calls --position 2",
  ]);
}
