import type { AgentTool } from "@svc/tools";
import { createExplainDeliveryTool } from "./explain-delivery.ts";
import type { OperatorContext } from "./parts.ts";
import { createReleasePostTool, createRetryDeliveryTool } from "./repair.ts";
import { createWhereIsEventTool } from "./where-is-event.ts";

/** The tools of operators' agents: two that look, and two that send again. */
export function createOperatorTools(context: OperatorContext): readonly AgentTool[] {
  return [
    createWhereIsEventTool(context),
    createExplainDeliveryTool(context),
    createRetryDeliveryTool(context),
    createReleasePostTool(context),
  ];
}
