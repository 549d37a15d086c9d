import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addConnectionDelete } from "./connections/delete.ts";
import { addConnectionLink } from "./connections/link.ts";
import { addConnectionList } from "./connections/list.ts";
import { addConnectionReferences } from "./connections/references.ts";
import { addConnectionShow } from "./connections/show.ts";
import { addConnectionTest } from "./connections/test.ts";

/** Adds `svc connections list|show|test|references|link|delete`. */
export function addConnectionsCommand(program: Command, context: CommandContext): void {
  const connections = program
    .command("connections")
    .description("list, show, test and delete connected accounts, and say which events are theirs");
  addExamples(connections, ["svc connections", "svc connections list --entity ada"]);
  addConnectionList(connections, context);
  addConnectionShow(connections, context);
  addConnectionTest(connections, context);
  addConnectionReferences(connections, context);
  addConnectionLink(connections, context);
  addConnectionDelete(connections, context);
}
