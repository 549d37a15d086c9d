import { toolkitLimits } from "../private/toolkit-limits.ts";
import { parseLinearRegExp, patternSize } from "../schema/linear-reg-exp.ts";
import type { DocumentNode } from "./read.ts";
import { safeText, wordsOf } from "./texts.ts";

/**
 * The properties that a tool's schema takes from an imported schema. `order`: names and schemas; required properties come first.
 * `requiredCount`: number of required properties. `places`: position of each name in the document.
 */
export type KnownProperties = {
  readonly order: readonly (readonly [name: string, schema: unknown])[];
  readonly requiredCount: number;
  readonly places: ReadonlyMap<string, number>;
};

/**
 * A schema with the parts of its `allOf` merged. `parts`: the merged schemas. `levels`: levels of `allOf` inside of each other. `count`:
 * number of merges. `isWhole`: false if a part is missing, because it contains the schema or because there are too many parts.
 */
export type MergedSchema = {
  readonly whole: DocumentNode;
  readonly parts: readonly DocumentNode[];
  readonly levels: number;
  readonly count: number;
  readonly isWhole: boolean;
};

/** Maximum number of texts that are remembered, so that they do not fill the memory. */
const textsMax = 50_000;
/** Maximum characters of a text in a tool's schema. */
const textMax = 200;

/**
 * Facts about the schemas of a document. Many operations share a schema, and svc converts it for each of them, often several times with
 * lower limits. The facts that do not depend on the operation are found only once.
 */
export class KnownSchemas {
  readonly merged = new WeakMap<DocumentNode, MergedSchema>();
  /** Schemas with the properties of a choice next to their own ones, by the schema without them. */
  readonly spread = new WeakMap<DocumentNode, DocumentNode>();
  /** Properties of arguments (`input`) and results (`output`), by the object that holds them in the document. */
  readonly properties = {
    input: new WeakMap<object, KnownProperties>(),
    output: new WeakMap<object, KnownProperties>(),
  };
  /** Values of `enum` that a schema of texts (`texts`) or another schema (`others`) can have, by the list in the document. */
  readonly values = {
    texts: new WeakMap<object, readonly unknown[]>(),
    others: new WeakMap<object, readonly unknown[]>(),
  };
  readonly #texts = new Map<unknown, string | undefined>();
  readonly #words = new Map<string, string | undefined>();
  readonly #patterns = new Map<string, number>();

  /** Returns a text of the document as `safeText` does: undefined if the text is suspicious. */
  text(value: unknown): string | undefined {
    return remembered(this.#texts, value, (given) => safeText(given, textMax));
  }

  /** Returns the words of a name, with spaces between them. Undefined if they are suspicious. */
  words(name: string): string | undefined {
    return remembered(this.#words, name, (given) => safeText(wordsOf(given).join(" "), textMax));
  }

  /** Returns the size of a regular expression, in instructions of the compiled expression. Infinity if svc cannot use it. */
  sizeOfPattern(pattern: string): number {
    return remembered(this.#patterns, pattern, (given) => {
      const isUsable = given.length <= toolkitLimits.patternLength && !("fault" in parseLinearRegExp(given));
      return isUsable ? patternSize(given) : Number.POSITIVE_INFINITY;
    });
  }
}

function remembered<Key, Value>(known: Map<Key, Value>, key: Key, find: (key: Key) => Value): Value {
  const before = known.get(key);
  if (before !== undefined || known.has(key)) return before as Value;
  if (known.size >= textsMax) known.clear();
  const found = find(key);
  known.set(key, found);
  return found;
}

const ofDocuments = new WeakMap<DocumentNode, KnownSchemas>();

/** Returns the known facts about the schemas of a document. `root`: the whole document. */
export function knownSchemasOf(root: DocumentNode): KnownSchemas {
  const known = ofDocuments.get(root) ?? new KnownSchemas();
  ofDocuments.set(root, known);
  return known;
}
