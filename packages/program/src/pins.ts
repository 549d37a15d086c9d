import { type Action, type Catalog, pinToolkit, type Toolkit, type ToolkitPin, toolkitFromPin } from "@svc/catalog";
import { LeastRecentlyUsed, readJsonObject } from "@svc/core";
import { canonicalHash } from "./canonical.ts";
import type { ProgramEstimate } from "./estimate.ts";

/** The tool definitions that are stored with a program (pinned), by slug of their toolkit (app), as plain JSON. */
export type Pins = Readonly<Record<string, Pin>>;

/**
 * A toolkit (one app's tools) as it is stored with a program (pinned), with those of its tools that the program calls. `digest`: the hash
 * of the stored definition's canonical JSON.
 */
export type Pin = { readonly digest: string; readonly definition: ToolkitPin };

/** A version of a skill that a program runs. `digest`: hash, in hexadecimal, under which the skill's program and definitions are stored. */
export type PinnedSkill = {
  readonly slug: string;
  readonly version: number;
  readonly digest: string;
  readonly estimate: ProgramEstimate;
};

/** The skills (programs used as tools) that a program runs, each fixed to one version. The keys are the names that the program uses. */
export type PinnedSkills = Readonly<Record<string, PinnedSkill>>;

/**
 * Returns the pins of a program (the stored definitions of its tools and skills) from their JSON text. The skills are stored under a key
 * that no toolkit (app) can have.
 */
export function readPins(text: string): { readonly pins: Pins; readonly skills: PinnedSkills } {
  const { skills = {}, ...pins } = readJsonObject(text, "the pins of a program");
  return { pins: pins as unknown as Pins, skills: skills as unknown as PinnedSkills };
}

const texts = new WeakMap<Pins, string>();

/**
 * Returns the JSON text in which a program's pins are stored. Pins are the tool and skill definitions with which the program was accepted.
 * The text is made once for each `pins` object and then cached.
 */
export function pinsText({ pins, skillPins }: { readonly pins: Pins; readonly skillPins: PinnedSkills }): string {
  let text = texts.get(pins);
  if (text === undefined) {
    const hasSkills = Object.keys(skillPins).length > 0;
    text = JSON.stringify(hasSkills ? { ...pins, skills: skillPins } : pins);
    texts.set(pins, text);
  }
  return text;
}

/**
 * Returns the pins of the tools in `actions`. Pins are copies of the present tool definitions, which are stored with a program. They are
 * grouped by toolkit (app), and the toolkits are sorted by slug.
 */
export function pinsOf(actions: readonly Action[], { toolkits }: Pick<Catalog, "toolkits">): Pins {
  const names = Map.groupBy(actions, ({ toolkitSlug }) => toolkitSlug);
  const slugs = [...names.keys()].sort();
  return Object.fromEntries(
    slugs.flatMap((slug) => {
      const toolkit = toolkits.get(slug);
      if (toolkit === undefined) return [];
      const definition = pinToolkit(toolkit, new Set(names.get(slug)?.map(({ name }) => name)));
      return [[slug, { digest: digestOfPin(definition), definition }]];
    }),
  );
}

/**
 * Returns the hash of a pinned toolkit. It does not cover if a shared toolkit is live, because pins of earlier versions of svc do not say
 * it. They would all count as changed.
 */
function digestOfPin({ isLive, ...definition }: ToolkitPin): string {
  return canonicalHash(
    definition.ownerProjectId === "" || isLive === undefined ? definition : { ...definition, isLive },
  );
}

/** The definition, as stored with the program (pinned), of a tool that a job calls, with its toolkit. */
export type PinnedTool = { readonly toolkit: Toolkit; readonly action: Action };

/** The tools that one job's program calls, by slug, with the definitions that were stored together with this program. */
export type PinnedTools = ReadonlyMap<string, PinnedTool>;

/**
 * Maximum number of toolkits (apps with their tools) that a node caches. They are read from pins (tool definitions that are stored with a
 * program). The least recently used toolkit is removed first.
 */
const keptMax = 500;

/**
 * Creates the reader of pins (tool definitions that are stored with a program); each node has one reader. If several programs have an equal
 * pinned toolkit (one app's tools), they get the same toolkit object. So svc compiles the validators of this toolkit only once.
 */
export function createPinReader(): { tools(pins: Pins): PinnedTools } {
  const kept = new LeastRecentlyUsed<string, Toolkit>(keptMax);
  const toolkitOf = ({ digest, definition }: Pin): Toolkit => {
    const name = `${digest} ${definition.isLive ?? false}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const toolkit = toolkitFromPin(definition);
    kept.set(name, toolkit);
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
