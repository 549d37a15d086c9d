import { ended } from "../import/operation.ts";
import { globOf, plainText } from "../import/texts.ts";
import type { ImportOverride } from "../import/tool-names.ts";
import { type DefinitionObject, memberOf } from "./compare-definitions.ts";

/**
 * Overrides that an approver sets together with an acceptance. `sourceNames`: the name that the import gave to a tool, by the name to which
 * an override of the import changed it. `moved`: tools of the next definition whose names other operations had before, and which are not
 * accepted; their class stays.
 */
export type AcceptedOverrides = {
  readonly list: readonly ImportOverride[];
  readonly sourceNames: Readonly<Record<string, string>>;
  readonly moved: readonly string[];
};

/** Maximum characters of a tool's description. */
export const descriptionMax = 800;

/**
 * Returns a definition with overrides applied to its tools. `isNext`: true for the definition that the source gives, in which the class of a
 * moved tool stays.
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
