import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addHookCreate } from "./hooks/create.ts";
import { addHookDelete } from "./hooks/delete.ts";
import { addHookList } from "./hooks/list.ts";
import { addHookUpdate } from "./hooks/update.ts";

/** Adds `svc hooks list|create|update|delete`. */
export function addHooksCommand(program: Command, context: CommandContext): void {
  const hooks = program.command("hooks").description("list, create, update and delete what is asked about every call");
  addExamples(hooks, [
    "svc hooks",
    "svc hooks create before https://hooks.example.com/calls --access write,destructive",
  ]);
  addHookList(hooks, context);
  addHookCreate(hooks, context);
  addHookUpdate(hooks, context);
  addHookDelete(hooks, context);
}
