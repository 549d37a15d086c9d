import type { AddedTool, AlteredPart, ToolkitChanges } from "@svc/gen/catalog";

/**
 * A change of one tool by its source. `added`: the new tool. `isGone`: true if the source no longer has the tool. `parts`: the altered parts
 * of the tool. `isFlagged`: true if the change is accepted only by the name of the tool, because a text of it is suspicious.
 */
export type ChangedTool = {
  readonly name: string;
  readonly added: AddedTool | undefined;
  readonly isGone: boolean;
  readonly parts: readonly AlteredPart[];
  readonly isBreaking: boolean;
  readonly isFlagged: boolean;
};

/** Returns the changed tools of a toolkit: suspicious ones first, then those that may break calls. Texts of the app have no name. */
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
 * Returns the class that a changed tool gets if its changes are accepted without a choice of the user. `classes`: the classes of the
 * toolkit's tools before the change, by name. Returns undefined if the source no longer has the tool.
 */
export function classAfter(
  { name, added, isGone, parts }: ChangedTool,
  classes: ReadonlyMap<string, string>,
): string | undefined {
  if (isGone) return undefined;
  return added?.class ?? parts.find(({ field }) => field === "class")?.after ?? classes.get(name);
}

/**
 * Returns the overrides that give accepted tools the classes that the user chose, by name of the tool. Leaves out the classes that the tools
 * get without a choice.
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
