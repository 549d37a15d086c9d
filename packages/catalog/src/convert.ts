import { create } from "@bufbuild/protobuf";
import { ToolKind, type Tool as ToolMessage, ToolSchema } from "@svc/gen/catalog";
import type { Tool } from "./model.ts";

const kinds = { action: ToolKind.ACTION, trigger: ToolKind.TRIGGER, code: ToolKind.CODE } as const;

/** A tool's message. It takes tens of microseconds, for the schemas' text, so it is made once. */
export function toToolMessage(tool: Tool): ToolMessage {
  return create(ToolSchema, {
    slug: tool.slug,
    toolkitSlug: tool.toolkitSlug,
    kind: kinds[tool.kind],
    description: tool.description,
    inputSchemaJson: JSON.stringify(tool.inputSchema),
    outputSchemaJson: JSON.stringify(tool.outputSchema),
    requiredScopes: [...tool.scopes],
    accessClass: tool.class,
    callable: tool.callable,
    uncallableReason: tool.uncallableReason,
    ownerProjectId: tool.ownerProjectId,
    pagingJson: tool.kind === "action" && tool.paging !== undefined ? JSON.stringify(tool.paging) : "",
    replacedBy: tool.kind === "action" ? (tool.replacedBy ?? "") : "",
    pollJson: tool.kind === "action" && tool.poll !== undefined ? JSON.stringify(tool.poll) : "",
  });
}
