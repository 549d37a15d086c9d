import { type CelInput, type CelValue, isCelError } from "@bufbuild/cel";
import { strings as library } from "@bufbuild/cel/ext";
import { containsSteps, stepsOf } from "../run/cost-of-text.ts";
import { type Extent, scalar } from "../run/extent.ts";
import { type CelFunction, listOf, method, outOfBounds, textExtent, textOf, wholeOf } from "./function.ts";

// Functions for texts, as in CEL's extension library `strings`. Indexes count characters: a character outside the Basic Multilingual Plane
// (such as an emoji) counts as one.

/**
 * Returns the characters of a text, so that each can be read by its index. If each character is one UTF-16 unit, the text itself is
 * returned, because its indexes are already right.
 */
function charactersOf(text: string): string | string[] {
  return /[\uD800-\uDFFF]/.test(text) ? Array.from(text) : text;
}

function partOf(text: string, from: number, to: number): string {
  const characters = charactersOf(text);
  const end = Number.isNaN(to) ? characters.length : to;
  if (from < 0 || end > characters.length || from > end) throw outOfBounds();
  const part = characters.slice(from, end);
  return typeof part === "string" ? part : part.join("");
}

function placeOf(text: string, sought: string, from: number | undefined, isLast: boolean): bigint {
  const characters = charactersOf(text);
  if (from !== undefined && (from < 0 || from > characters.length)) throw outOfBounds();
  const unitsTo = (count: number) =>
    typeof characters === "string" ? count : characters.slice(0, count).join("").length;
  const start = from === undefined ? undefined : unitsTo(from);
  const found = isLast ? text.lastIndexOf(sought, start) : text.indexOf(sought, start);
  return BigInt(found <= 0 || typeof characters === "string" ? found : Array.from(text.slice(0, found)).length);
}

function asciiCase(text: string, letters: RegExp, change: (letter: string) => string): string {
  return text.replace(letters, change);
}

function replace(text: string, sought: string, other: string, count: number): string {
  if (count < 0 || count >= text.length + 1) return text.replaceAll(sought, () => other);
  let replaced = "";
  let at = 0;
  for (let done = 0; done < count; done++) {
    const found = text.indexOf(sought, at);
    if (found < 0) break;
    // An empty search text is found between any two characters. The search then continues after the next character.
    const end = found + Math.max(sought.length, 1);
    replaced += text.slice(at, found) + other + (sought === "" ? text.slice(found, end) : "");
    at = end;
  }
  return replaced + text.slice(at);
}

function split(text: string, separator: string, count: number): string[] {
  if (count === 0) return [];
  const parts = separator === "" ? Array.from(text) : text.split(separator);
  if (count < 0 || parts.length <= count) return parts;
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)];
}

const format = library.find(({ name }) => name === "format");

function formatted(values: readonly CelValue[]): CelInput {
  const [text, items] = values;
  const made = format?.call(0, text, items === undefined ? [] : [items]);
  if (made === undefined || isCelError(made)) throw new Error(made?.message ?? "found no matching overload");
  return made;
}

/** Maximum characters of a formatted number: the digits of the largest double, plus the digits after the point. */
const numberCharacters = 450;

const quotes: Readonly<Record<string, string>> = {
  "\u0000": "\\0",
  "\u0007": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

/** Returns the evaluation steps (units of work) of a function that reads each character of a text once. */
const perCharacter = ([text = scalar]: readonly Extent[]) => text.text * stepsOf.made;
/**
 * Returns the maximum size (extent) of the result of a text function, for functions whose result is never longer than the text that they
 * get.
 */
const noLonger = ([text = scalar]: readonly Extent[]) => textExtent(text.text);

function onText(
  name: string,
  takes: Parameters<typeof method>[1],
  rest: Partial<Pick<CelFunction, "steps" | "extent">> & { gives?: "int" | "string" } & Pick<CelFunction, "run">,
): CelFunction {
  const { gives = "string", ...own } = rest;
  const extent = gives === "int" ? () => scalar : noLonger;
  const signatures = [method("string", takes, gives)];
  return { name, isMethod: true, count: takes.length, signatures, steps: perCharacter, extent, ...own };
}

const searched = ([text = scalar, sought = scalar]: readonly Extent[]) =>
  text.text * stepsOf.made + containsSteps(text.text, sought.text);

const replaced = ([text = scalar, , other = scalar]: readonly Extent[]) => (text.text + 1) * (other.text + 1);

const replacing = {
  steps: (of: readonly Extent[]) => searched(of) + replaced(of) * stepsOf.made,
  extent: (of: readonly Extent[]) => textExtent(replaced(of)),
};

const texts = { type: "string" };

function splitting(count: 1 | 2): CelFunction {
  return {
    name: "split",
    isMethod: true,
    count,
    signatures: [{ ...method("string", count === 1 ? ["string"] : ["string", "int"], "list"), items: texts }],
    steps: (of) => searched(of) + ((of[0]?.text ?? 0) + 1) * stepsOf.value,
    extent([text = scalar]) {
      const items = text.text + 1;
      return { items, text: text.text, total: 1 + items + text.text / 16, depth: 0, item: textExtent(text.text) };
    },
    run: ([text, separator, most]) => split(textOf(text), textOf(separator), most === undefined ? -1 : wholeOf(most)),
  };
}

const joinedText = ([list = scalar, separator = scalar]: readonly Extent[]) =>
  list.total * 16 + list.items * separator.text;

function joining(count: 0 | 1): CelFunction {
  return {
    name: "join",
    isMethod: true,
    count,
    signatures: [method("list", count === 0 ? [] : ["string"], "string")],
    steps: (of) => joinedText(of) * stepsOf.made,
    extent: (of) => textExtent(joinedText(of)),
    run: ([list, separator = ""]) => listOf(list).map(textOf).join(textOf(separator)),
  };
}

const formattedText = ([text = scalar, items = scalar]: readonly Extent[]) =>
  text.text + items.total * 128 + items.total * numberCharacters;

/** The functions of texts that svc adds to the expression language CEL. */
export const stringFunctions: readonly CelFunction[] = [
  onText("charAt", ["int"], {
    run: ([text, at]) => {
      const place = wholeOf(at);
      const { length } = charactersOf(textOf(text));
      return place === length ? "" : partOf(textOf(text), place, place + 1);
    },
  }),
  onText("indexOf", ["string"], {
    gives: "int",
    steps: searched,
    run: ([text, sought]) => placeOf(textOf(text), textOf(sought), undefined, false),
  }),
  onText("indexOf", ["string", "int"], {
    gives: "int",
    steps: searched,
    run: ([text, sought, from]) => placeOf(textOf(text), textOf(sought), wholeOf(from), false),
  }),
  onText("lastIndexOf", ["string"], {
    gives: "int",
    steps: searched,
    run: ([text, sought]) => placeOf(textOf(text), textOf(sought), undefined, true),
  }),
  onText("lastIndexOf", ["string", "int"], {
    gives: "int",
    steps: searched,
    run: ([text, sought, from]) => placeOf(textOf(text), textOf(sought), wholeOf(from), true),
  }),
  onText("lowerAscii", [], {
    run: ([text]) => asciiCase(textOf(text), /[A-Z]+/g, (letters) => letters.toLowerCase()),
  }),
  onText("upperAscii", [], {
    run: ([text]) => asciiCase(textOf(text), /[a-z]+/g, (letters) => letters.toUpperCase()),
  }),
  onText("trim", [], { run: ([text]) => textOf(text).trim() }),
  onText("substring", ["int"], { run: ([text, from]) => partOf(textOf(text), wholeOf(from), Number.NaN) }),
  onText("substring", ["int", "int"], {
    run: ([text, from, to]) => partOf(textOf(text), wholeOf(from), wholeOf(to)),
  }),
  onText("replace", ["string", "string"], {
    ...replacing,
    run: ([text, sought, other]) => replace(textOf(text), textOf(sought), textOf(other), -1),
  }),
  onText("replace", ["string", "string", "int"], {
    ...replacing,
    run: ([text, sought, other, most]) => replace(textOf(text), textOf(sought), textOf(other), wholeOf(most)),
  }),
  splitting(1),
  splitting(2),
  joining(0),
  joining(1),
  {
    name: "format",
    isMethod: true,
    count: 1,
    signatures: [method("string", ["list"], "string")],
    steps: (of) => formattedText(of) * stepsOf.made + (of[1]?.total ?? 0) * stepsOf.zone,
    extent: (of) => textExtent(formattedText(of)),
    run: formatted,
  },
  {
    name: "strings.quote",
    isMethod: false,
    count: 1,
    signatures: [{ takes: [["string"]], gives: "string" }],
    steps: perCharacter,
    extent: ([text = scalar]) => textExtent(2 * text.text + 2),
    run: ([text]) => `"${[...textOf(text)].map((character) => quotes[character] ?? character).join("")}"`,
  },
];
