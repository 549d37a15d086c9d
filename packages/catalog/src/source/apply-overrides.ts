import { ended } from "../import/operation.ts";
import { globOf, plainText } from "../import/texts.ts";
import type { ImportOverride } from "../import/tool-names.ts";
import { type DefinitionObject, memberOf } from "./compare-definitions.ts";

/**
 * Overrides (choices for imported tools) that an approver sets when accepting changes. `sourceNames`: the original name of each tool that
 * an earlier override renamed, by its new name. `moved`: tools of the newer definition whose names belonged to other operations before and
 * that are not accepted; the overrides do not change their class.
 */
export type AcceptedOverrides = {
  readonly list: readonly ImportOverride[];
  readonly sourceNames: Readonly<Record<string, string>>;
  readonly moved: readonly string[];
};

/** Maximum characters of a tool's description. */
export const descriptionMax = 800;

/**
 * Returns a definition with an approver's overrides applied to its tools. `isNext`: true for the newer definition from the source. In it,
 * the class of a tool stays unchanged if its name belonged to another operation before.
 */
export function applyOverrides(
  { toolkit, tools }: DefinitionObject,
  { list, sourceNames, moved }: AcceptedOverrides,
  isNext: boolean,
): DefinitionObject {
  const matchers = list.map((one) => ({ ...one, isMeant: globOf(one.match) }));
  const changed = Object.entries(tools).map(([name, tool]) => {
    const source = memberOf(sourceNames, name) ?? name;
    const matching = matchers.filter(({ isMeant }) => isMeant(source));
    const access = matching.findLast((one) => one.class !== "")?.class;
    const description = matching.findLast((one) => one.description !== "")?.description;
    const isFixed = isNext && moved.includes(source);
    return [
      name,
      {
        ...tool,
        ...(access !== undefined && !isFixed && { class: access }),
        ...(description !== undefined && { description: textFor(description, toolkit) }),
      },
    ] as const;
  });
  return { toolkit, tools: Object.fromEntries(changed) };
}

/** Returns the text of a description, as an import with the override makes it. Of an MCP server, it ends with the server's host. */
function textFor(description: string, toolkit: DefinitionObject["toolkit"]): string {
  const { mcp } = toolkit as { readonly mcp?: { readonly url: string } };
  if (mcp === undefined) return ended(plainText(description, descriptionMax));
  const from = ` (from ${new URL(mcp.url).host})`;
  return `${plainText(description, descriptionMax - from.length)}${from}`;
}
