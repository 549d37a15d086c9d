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
  { tools, flagged, origin }: AcceptedChanges,
): DefinitionObject {
  const isAll = tools.length === 0;
  const isAccepted = (name: string) => (isAll ? !flagged.includes(name) : tools.includes(name));
  const names = new Set([...Object.keys(before.tools), ...Object.keys(after.tools)]);
  const merged = [...names].flatMap((name) => {
    const tool = memberOf((isAccepted(name) ? after : before).tools, name);
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

function membersOf(toolkit: DefinitionObject["toolkit"], isOrigin: boolean): DefinitionObject["toolkit"] {
  const members = Object.entries(toolkit);
  return Object.fromEntries(members.filter(([name]) => originFields.some((field) => field === name) === isOrigin));
}
