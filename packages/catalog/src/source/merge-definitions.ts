import { type DefinitionObject, memberOf, originFields } from "./compare-definitions.ts";

/**
 * Changes of a toolkit that an approver accepts. `tools`: names of the accepted tools; if empty, all tools except those in `flagged`.
 * `flagged`: names of the tools with suspicious changes. `origin`: true to accept the base URL, the account variables and the
 * authentication.
 */
export type AcceptedChanges = {
  readonly tools: readonly string[];
  readonly flagged: readonly string[];
  readonly origin: boolean;
};

/**
 * Returns the accepted definition of a toolkit (an app with its tools) with the accepted changes of a newer one. Names and descriptions of
 * the toolkit change only if the changes of all tools are accepted.
 */
export function mergeDefinitions(
  before: DefinitionObject,
  after: DefinitionObject,
  { origin, ...accepted }: AcceptedChanges,
): DefinitionObject {
  const isAll = accepted.tools.length === 0;
  const names = new Set([...Object.keys(before.tools), ...Object.keys(after.tools)]);
  const merged = [...names].flatMap((name) => {
    const tool = memberOf((isAcceptedTool(name, accepted) ? after : before).tools, name);
    return tool === undefined ? [] : [[name, tool] as const];
  });
  return {
    toolkit: {
      ...membersOf(isAll ? after.toolkit : before.toolkit, false),
      ...membersOf(origin ? after.toolkit : before.toolkit, true),
    },
    tools: Object.fromEntries(merged),
  };
}

/** True if the changes of a tool are accepted. */
export function isAcceptedTool(name: string, { tools, flagged }: Pick<AcceptedChanges, "tools" | "flagged">): boolean {
  return tools.length === 0 ? !flagged.includes(name) : tools.includes(name);
}

function membersOf(toolkit: DefinitionObject["toolkit"], isOrigin: boolean): DefinitionObject["toolkit"] {
  const members = Object.entries(toolkit);
  return Object.fromEntries(members.filter(([name]) => originFields.some((field) => field === name) === isOrigin));
}
