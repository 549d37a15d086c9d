import type { ListedTool } from "@svc/tools";
import type { Quarantine, TriggersContext } from "@svc/triggers";

/** What tools of operators' agents work with. */
export type OperatorContext = TriggersContext & { readonly quarantine: Quarantine };

/** Annotations of a tool that reads, and of one that sends again. */
export const reads: ListedTool["annotations"] = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
export const sends: ListedTool["annotations"] = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };

/** The schema of a tool that takes texts. */
export function textsSchema(properties: Readonly<Record<string, string>>, required: readonly string[]) {
  const described = Object.entries(properties).map(([name, description]) => [name, { type: "string", description }]);
  return {
    type: "object",
    additionalProperties: false,
    required: [...required],
    properties: Object.fromEntries(described),
  } as const;
}
