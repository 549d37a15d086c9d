import { expect, test } from "vitest";
import { formatValue } from "../faults/errors.ts";
import { isEntityId, isPrintableText, singleLine, storableText } from "./text.ts";

test.each(["x", "ä", "漢", "🍎"])("an entity has up to 200 characters, however many units %s takes", (character) => {
  expect(isEntityId(character.repeat(200))).toBe(true);
  expect(isEntityId(character.repeat(201))).toBe(false);
});

test("an entity has a character at least, no control characters, and no half of one", () => {
  expect(isEntityId("user:42 / 'a' \"b\"")).toBe(true);
  for (const text of ["", "a\nb", "a\u0000", "\u0085", "\ud800", "a\udc00b"]) expect(isEntityId(text)).toBe(false);
});

test("a printable text may be empty, and has the length that is asked for", () => {
  expect(["", "abc", "🍎🍎🍎"].map((text) => isPrintableText(text, 3))).toEqual([true, true, true]);
  expect(["abcd", "🍎🍎🍎🍎", "a\u0007"].map((text) => isPrintableText(text, 3))).toEqual([false, false, false]);
});

test("a text that PostgreSQL cannot hold keeps its length, with replacement characters", () => {
  expect(storableText("a\0b\ud800c\0")).toBe("a\ufffdb\ufffdc\ufffd");
  expect(storableText("plain 🍎")).toBe("plain 🍎");
});

test("a printable text has no line breaks, and putting a text on one line replaces them by spaces", () => {
  for (const broken of ["\n", "\r", "\u0085", "\u2028", "\u2029", "\v", "\f", "\0", "\u009f"]) {
    expect(isPrintableText(`a${broken}b`, 10), JSON.stringify(broken)).toBe(false);
    expect(isEntityId(`a${broken}b`)).toBe(false);
    expect(singleLine(`a${broken}${broken}b`)).toBe("a b");
    expect(formatValue(`a${broken}b`)).not.toContain(broken);
  }
  expect(formatValue("a\u2028b")).toBe('"a\\u2028b"');
  expect(singleLine("a b")).toBe("a b");
});
