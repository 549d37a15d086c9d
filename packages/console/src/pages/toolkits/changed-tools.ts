import type { AddedTool, AlteredPart, ToolkitChanges } from "@svc/gen/catalog";

/**
 * The changes of one tool in its source, such as an OpenAPI document. `added`: the new tool. `isGone`: true if the source no longer has the
 * tool. `isFlagged`: true if a text is suspicious; the user must then accept the tool by name.
 */
export type ChangedTool = {
  readonly name: string;
  readonly added: AddedTool | undefined;
  readonly isGone: boolean;
  readonly parts: readonly AlteredPart[];
  readonly isBreaking: boolean;
  readonly isFlagged: boolean;
};

/**
 * Returns the changed tools of a toolkit: suspicious ones first, then those that may break calls. A change of the toolkit's own texts is an
 * entry with an empty tool name.
 */
export function changedTools({ added, gone, altered }: ToolkitChanges): ChangedTool[] {
  const none = { added: undefined, isGone: false, parts: [], isBreaking: false, isFlagged: false };
  const tools = [
    ...added.map((tool) => ({ ...none, name: tool.name, added: tool, isFlagged: tool.flagged })),
    ...gone.map((name) => ({ ...none, name, isGone: true, isBreaking: true })),
    ...[...Map.groupBy(altered, ({ tool }) => tool)].map(([name, parts]) => ({
      ...{ ...none, name, parts },
      isBreaking: parts.some(({ breaking }) => breaking),
      isFlagged: parts.some(({ flagged }) => flagged),
    })),
  ];
  const rank = ({ isFlagged, isBreaking }: ChangedTool) => (isFlagged ? 0 : isBreaking ? 1 : 2);
  return tools.toSorted((one, other) => rank(one) - rank(other));
}

/**
 * Returns the class (read, write or destructive) that a changed tool gets if the user chooses none. `classes`: present classes of the tools,
 * by name. Returns undefined if the source no longer has the tool.
 */
export function classAfter(
  { name, added, isGone, parts }: ChangedTool,
  classes: ReadonlyMap<string, string>,
): string | undefined {
  if (isGone) return undefined;
  return added?.class ?? parts.find(({ field }) => field === "class")?.after ?? classes.get(name);
}

/**
 * Returns the overrides for a request that accepts changed tools: the classes that the user chose for them. A class that the tool gets
 * without an override is left out.
 */
export function classOverrides(
  accepted: readonly ChangedTool[],
  { now, chosen }: { readonly now: ReadonlyMap<string, string>; readonly chosen: ReadonlyMap<string, string> },
): { match: string; class: string }[] {
  return accepted.flatMap((tool) => {
    const access = chosen.get(tool.name);
    return access === undefined || access === classAfter(tool, now) ? [] : [{ match: tool.name, class: access }];
  });
}

/** A part of a toolkit that decides where calls and credentials go, as text before and after a change. Empty if it does not exist. */
type OriginPart = { readonly field: string; readonly before: string; readonly after: string };

/** Returns the parts of a toolkit's origin (base URL, account variables, authentication) that differ, with line breaks for people. */
export function originParts({ originBefore, originAfter }: ToolkitChanges): OriginPart[] {
  const [before, after] = [originBefore, originAfter].map(
    (json) => JSON.parse(json || "{}") as Record<string, unknown>,
  );
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...fields]
    .map((field) => ({ field, before: partText(before?.[field]), after: partText(after?.[field]) }))
    .filter((part) => part.before !== part.after);
}

function partText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
