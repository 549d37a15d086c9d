import type { JsonSchema } from "@svc/catalog";
import fc from "fast-check";

/** The place a text is used in, which limits it besides its schema: a segment of a path, or the value of a header. */
export type TextUse = "segment" | "header" | "any";

/** Draws a random text that fits a schema of type string: by its pattern, by its format, or any text within its lengths. */
export function drawText(schema: JsonSchema, draw: fc.GeneratorValue, use: TextUse): string {
  const { pattern, format, minLength = 0, maxLength } = schema as Record<string, string & number>;
  if (pattern !== undefined) return draw(matching, pattern);
  const known = format === undefined ? undefined : formats[format];
  if (known !== undefined) return draw(known);
  return draw(textOf, use, minLength as number, maxLength as number | undefined);
}

/** Creates each arbitrary (random generator) once, because creating one for texts takes far longer than drawing from it. */
function kept<Args extends readonly unknown[]>(
  make: (...args: Args) => fc.Arbitrary<string>,
): (...args: Args) => fc.Arbitrary<string> {
  const made = new Map<string, fc.Arbitrary<string>>();
  return (...args) => {
    const key = args.join();
    const arbitrary = made.get(key) ?? make(...args);
    made.set(key, arbitrary);
    return arbitrary;
  };
}

const matching = kept((pattern: string) => fc.stringMatching(new RegExp(pattern)));

const instant = () => fc.date({ min: new Date(0), max: new Date("2099-12-31T00:00:00Z"), noInvalidDate: true });

const formats: Readonly<Record<string, () => fc.Arbitrary<string>>> = {
  date: () => instant().map((date) => date.toISOString().slice(0, 10)),
  "date-time": () => instant().map((date) => date.toISOString()),
  email: kept(() =>
    fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.domain()).map(([name, domain]) => `${name}@${domain}`),
  ),
  uri: kept(() => fc.webUrl()),
};

/** Texts that would change the request if they were not encoded, or would be taken for a placeholder if they were rendered twice. */
const awkward = ["a/b?c=d#e", "50% off", "%2e%2e", "a b+c&d", "{{params.other}}", '"quoted" \\', "..a", "x\u{1f4c5}é"];

const textOf = kept((use: TextUse, minLength: number, maxLength: number | undefined) => {
  const min = use === "segment" ? Math.max(1, minLength) : minLength;
  const max = Math.min(maxLength ?? Number.POSITIVE_INFINITY, min + 16);
  const fitting = awkward.filter((text) => [...text].length >= min && [...text].length <= max);
  const plain = fc.string({
    minLength: min,
    maxLength: max,
    unit: use === "header" ? "grapheme-ascii" : "grapheme-composite",
  });
  if (fitting.length === 0) return plain.filter((text) => suits(text, use));
  return fc.oneof({ arbitrary: plain, weight: 3 }, fc.constantFrom(...fitting)).filter((text) => suits(text, use));
});

/**
 * True if a text may be used there. The request refuses a segment that leaves its path, however it is encoded, and a header with other
 * characters than printable ASCII.
 */
function suits(text: string, use: TextUse): boolean {
  if (use === "header") return /^[\x20-\x7e]*$/.test(text);
  return use === "any" || !/^(\.|%2e){0,2}$/i.test(text);
}
