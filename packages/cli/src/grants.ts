import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addGrantList } from "./grants/list.ts";
import { addGrantRevoke } from "./grants/revoke.ts";
import { addGrantUpdate } from "./grants/update.ts";

/** Adds `svc grants list|update|revoke`. */
export function addGrantsCommand(program: Command, context: CommandContext): void {
  const grants = program.command("grants").description("list, narrow and revoke what people let agents do");
  addExamples(grants, ["svc grants", "svc grants revoke grt_01h455vb4pex5vsknk084sn02q"]);
  addGrantList(grants, context);
  addGrantUpdate(grants, context);
  addGrantRevoke(grants, context);
}
