import type { Command } from "commander";
import { addAskEndpointCreate } from "./ask-endpoints/create.ts";
import { addAskEndpointDelete } from "./ask-endpoints/delete.ts";
import { addAskEndpointList } from "./ask-endpoints/list.ts";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";

/** Adds `svc ask-endpoints create|list|delete`. */
export function addAskEndpointsCommand(program: Command, context: CommandContext): void {
  const endpoints = program
    .command("ask-endpoints")
    .description(
      "create, list and delete endpoints that every question of the project is published to; for an approver",
    );
  addExamples(endpoints, ["svc ask-endpoints", "svc ask-endpoints create https://hooks.example.com/asks"]);
  addAskEndpointCreate(endpoints, context);
  addAskEndpointList(endpoints, context);
  addAskEndpointDelete(endpoints, context);
}
