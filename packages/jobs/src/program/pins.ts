import { type Action, type Catalog, pinToolkit, type Toolkit, type ToolkitPin, toolkitFromPin } from "@svc/catalog";
import { canonicalHash } from "./canonical.ts";

/** The definitions that a program runs on, by toolkit slug. Plain JSON; `digest` is the hash of the definition's canonical JSON. */
export type Pins = Readonly<Record<string, Pin>>;

/** One toolkit with the tools of it that the program calls. */
export type Pin = { readonly digest: string; readonly definition: ToolkitPin };

/** Pins what a program uses, with toolkits in the order of their slugs. */
export function pinsOf(actions: readonly Action[], { toolkits }: Pick<Catalog, "toolkits">): Pins {
  const names = Map.groupBy(actions, ({ toolkitSlug }) => toolkitSlug);
  const slugs = [...names.keys()].sort();
  return Object.fromEntries(
    slugs.flatMap((slug) => {
      const toolkit = toolkits.get(slug);
      if (toolkit === undefined) return [];
      const definition = pinToolkit(toolkit, new Set(names.get(slug)?.map(({ name }) => name)));
      return [[slug, { digest: canonicalHash(definition), definition }]];
    }),
  );
}

/** The tools of one job's pins by slug, each with its toolkit. */
export type PinnedTools = ReadonlyMap<string, { readonly toolkit: Toolkit; readonly action: Action }>;

/** Toolkits made of pins that a node keeps; the one unused for longest goes first. */
const keptMax = 500;

/**
 * Makes tools of pins. Equal pins share one toolkit, so that its validators are compiled once however many jobs run on it.
 * One for each node.
 */
export function createPinReader(): { tools(pins: Pins): PinnedTools } {
  const kept = new Map<string, Toolkit>();
  const toolkitOf = ({ digest, definition }: Pin): Toolkit => {
    const toolkit = kept.get(digest) ?? toolkitFromPin(definition);
    kept.delete(digest);
    kept.set(digest, toolkit);
    const oldest = kept.size > keptMax ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    return toolkit;
  };
  return {
    tools(pins) {
      const toolkits = Object.values(pins).map(toolkitOf);
      return new Map(
        toolkits.flatMap((toolkit) => toolkit.actions.map((action) => [action.slug, { toolkit, action }] as const)),
      );
    },
  };
}
