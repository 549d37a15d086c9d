import { plan } from "@bufbuild/cel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseExpression } from "../read/cel-calls.ts";
import { boundOf } from "./cost.ts";
import { meteredEach } from "./cost-of-text.ts";
import { meteredEnv } from "./evaluation.ts";
import { inlineStepsMax } from "./evaluator.ts";
import { compileSource } from "./expression.ts";

// Expressions with everything whose cost multiplies: texts, patterns, lists, and functions of them.

const text = fc.oneof(
  fc.constantFrom("row.text", "params.long", "'b' + params.long", "row.text + params.long", "string(row.n)"),
  fc.constantFrom("''", "'a'", "'aab'"),
);
const pattern = fc.constantFrom("^(a|aa)+$", "a*b", "([ab]{0,20}a){9}c", "^a", "(a?){20}b", "[^b]*b$");
const list = fc.constantFrom(
  "row.list",
  "params.list",
  "row.texts",
  "[row.text, params.long]",
  "row.list + params.list",
);

/** Generates expressions that call a library function which returns a text. */
const made = fc.oneof(
  fc.tuple(text, text, text).map(([of, a, b]) => `(${of}).replace(${a}, ${b})`),
  fc.tuple(text, text).map(([of, by]) => `(${of}).split(${by}).join(${by})`),
  text.map((of) => `'%s and %s'.format([${of}, ${of}])`),
  fc.constantFrom("row.texts.sort().join(params.long)", "row.texts.distinct().reverse().join('-')"),
  text.map((of) => `(${of}).trim().lowerAscii().reverse()`),
  fc.tuple(text, text).map(([of, sought]) => `string((${of}).indexOf(${sought}))`),
  text.map((of) => `sha256(${of}) + base64.encode(${of}) + strings.quote(${of})`),
  fc.constantFrom(
    "string(math.greatest(params.list))",
    "string(params.list.slice(0, 1).sum())",
    "string(lists.range(900).sort().size())",
    "string([row.texts, row.texts].flatten().size())",
  ),
);

const condition = (local: string): fc.Arbitrary<string> =>
  fc.letrec<{ all: string; leaf: string }>((tie) => ({
    leaf: fc.oneof(
      fc.tuple(text, pattern).map(([of, by]) => `(${of}).matches('${by}')`),
      fc.tuple(text, text).map(([of, sought]) => `(${of}).contains(${sought})`),
      fc.tuple(text, text).map(([a, b]) => `${a} == ${b}`),
      text.map((of) => `size(${of}) > 2`),
      text.map((of) => `int(${of}) > 2`),
      list.map((of) => `${local} in ${of}`),
      fc.tuple(list, list).map(([a, b]) => `${a} == ${b}`),
      fc.constant(`row.missing == ${local}`),
      made.map((of) => `(${of}).size() > 2`),
      fc.tuple(made, text).map(([of, sought]) => `(${of}).contains(${sought})`),
      list.map((of) => `${local} in (${of}).distinct()`),
    ),
    all: fc.oneof(
      { maxDepth: 2 },
      tie("leaf"),
      fc.tuple(tie("all"), tie("all")).map(([a, b]) => `(${a} || ${b})`),
      tie("all").map((of) => `!(${of})`),
    ),
  })).all;

const walk = fc
  .tuple(fc.constantFrom("all", "exists", "exists_one"), list, condition("x"))
  .map(([macro, of, body]) => `${of}.${macro}(x, ${body})`);
const filtered = fc
  .tuple(list, list, condition("x"))
  .map(([of, other, body]) => `${of}.filter(x, ${body}).size() >= 0 && ${of} != ${other}`);
const expression = fc.oneof(condition("row.n"), walk, filtered);

const value = fc.record({
  row: fc.record({
    n: fc.integer({ min: 0, max: 9 }),
    text: fc.nat(400).map((length) => "a".repeat(length)),
    list: fc.array(fc.constantFrom(1, "a", "aa", null), { maxLength: 40 }),
    texts: fc.array(
      fc.nat(60).map((length) => `${"a".repeat(length)}b`),
      { maxLength: 10 },
    ),
  }),
  params: fc.record({
    long: fc.nat(3_000).map((length) => "a".repeat(length)),
    list: fc.array(fc.nat(3), { maxLength: 200 }),
  }),
});

/** Returns the evaluation steps (units of work) that were used while an expression was evaluated to its end. */
function stepsTaken(source: string, values: object): number {
  const parsed = parseExpression(source);
  if ("fault" in parsed) throw new Error(`${source} ${parsed.fault}`);
  const run = plan(meteredEnv, parsed.tree);
  let taken = 0;
  meteredEach(Number.MAX_SAFE_INTEGER, [values as Parameters<typeof run>[0]], run, (_value, _isOver, steps) => {
    taken = steps;
    return true;
  });
  return taken;
}

/**
 * Returns the CPU milliseconds that this thread needs for `run`. Use the lowest of several results, because garbage collection may be
 * included.
 */
function cpuMsOf(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

test("an evaluation takes no more steps than were foreseen, whatever it is of", () => {
  fc.assert(
    fc.property(expression, value, (source, values) => {
      const parsed = parseExpression(source);
      if ("fault" in parsed) return;
      expect(stepsTaken(source, values)).toBeLessThanOrEqual(boundOf(parsed.tree)(values, [values.row]));
    }),
    { numRuns: 300 },
  );
});

test("the text of a number is foreseen at its length, also within what is made of it", () => {
  const values = { row: { n: 0 }, params: {} };
  const source = "!'%s and %s'.format([string(row.n), string(row.n)]).contains('')";
  const parsed = parseExpression(source);
  if ("fault" in parsed) throw new Error(parsed.fault);
  expect(stepsTaken(source, values)).toBeLessThanOrEqual(boundOf(parsed.tree)(values, [values.row]));
});

test("the bound of several rows is that of none of them exceeded", () => {
  fc.assert(
    fc.property(expression, fc.array(value, { minLength: 2, maxLength: 4 }), (source, several) => {
      const { bound } = compileSource(source);
      const { params } = several[0]!;
      const rows = several.map(({ row }) => row);
      const ofAny = bound({ params }, rows);
      for (const row of rows) expect(bound({ params }, [row])).toBeLessThanOrEqual(ofAny);
    }),
    { numRuns: 300 },
  );
});

test("what is let through to the event loop is over in 10 ms of the CPU", () => {
  fc.assert(
    fc.property(expression, value, (source, values) => {
      const { bound, evaluate } = compileSource(source);
      const { row, ...bindings } = values;
      if (bound(bindings, [row]) > inlineStepsMax) return;
      // The first evaluation is not measured, because JavaScript and the patterns are compiled in it.
      evaluate(bindings, [row]);
      expect(Math.min(...[1, 2, 3].map(() => cpuMsOf(() => evaluate(bindings, [row]))))).toBeLessThan(10);
    }),
    { numRuns: 300 },
  );
});

test("a value is looked at no further than that it is too large", () => {
  const list = Array.from({ length: 1_000_000 }, (_, n) => n);
  const { bound } = compileSource("row.list.exists(x, x == 5.0)");
  bound({}, [{ list: [1] }]);
  let steps = 0;
  const cpuMs = cpuMsOf(() => {
    steps = bound({}, [{ list }]);
  });
  expect(steps).toBeGreaterThan(inlineStepsMax);
  expect(cpuMs).toBeLessThan(10);
});
