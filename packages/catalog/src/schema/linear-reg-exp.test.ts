import fc from "fast-check";
import { expect, test } from "vitest";
import { compileLinearRegExp, parseLinearRegExp } from "./linear-reg-exp.ts";

function testOf(pattern: string, text: string): boolean {
  const form = parseLinearRegExp(pattern);
  if ("fault" in form) throw new Error(form.fault);
  return form.test(text);
}

test("a pattern is found anywhere in a text, as JSON Schema has it, unless it is anchored", () => {
  expect(testOf("b+", "abbc")).toBe(true);
  expect(testOf("^b+$", "abbc")).toBe(false);
  expect(testOf("^[a-z0-9.-]+$", "search.example.com")).toBe(true);
  expect(testOf("^.$", "\u{1f600}")).toBe(true);
});

test("an anchored pattern does not match in front of a line break", () => {
  expect(testOf("^[a-z]+$", "abc\n")).toBe(false);
  expect(testOf("^[a-z]+$", "abc\nx")).toBe(false);
});

test.each(["(?=a)", "(?!a)", "(?<=a)b", "(a)\\1", "(", "[", "a{1001}"])("%s is refused with a reason", (pattern) => {
  expect(parseLinearRegExp(pattern)).toEqual({ fault: expect.stringContaining("is not an RE2 expression") });
  expect(() => compileLinearRegExp(pattern)).toThrow();
});

test("patterns that backtrack for ever elsewhere answer at once", () => {
  const text = `${"a".repeat(50_000)}!`;
  for (const pattern of ["^(a+)+$", "^(a|aa)+$", "^(a|a)*$", "^(.*a){10}$"]) expect(testOf(pattern, text)).toBe(false);
});

test("property: simple classes and anchors agree with the platform's engine", () => {
  const piece = fc.constantFrom("a", "b", "[ab]", ".", "a*", "b+", "(a|b)", "a?", "\\d", "[^a]");
  const pattern = fc.tuple(fc.boolean(), fc.array(piece, { minLength: 1, maxLength: 5 }), fc.boolean());
  fc.assert(
    fc.property(pattern, fc.string({ unit: fc.constantFrom("a", "b", "1", "\n") }), ([start, pieces, end], text) => {
      const source = `${start ? "^" : ""}${pieces.join("")}${end ? "$" : ""}`;
      expect(testOf(source, text)).toBe(new RegExp(source, "u").test(text));
    }),
    { numRuns: 200 },
  );
});

test("property: any text as a pattern is an expression or a fault", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."ab()[]{}*+?|^$\\.1,-<=!:PpnQE") }), (pattern) => {
      const form = parseLinearRegExp(pattern);
      expect("fault" in form ? form.fault : typeof form.test("ab")).toMatch(/is not an RE2 expression|boolean/);
    }),
  );
});
