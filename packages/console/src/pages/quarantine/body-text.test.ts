import { expect, test } from "vitest";
import { hexBytesMax, hexOf, isJson, textOf } from "./body-text.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("a body is text only where every byte of it is", () => {
  expect(textOf(bytes("grüß"))).toBe("grüß");
  expect(textOf(Uint8Array.of(0xff, 0x41))).toBeUndefined();
  expect(isJson('{"a":1}')).toBe(true);
  expect(isJson("a=1")).toBe(false);
});

test("bytes stand with their offset and what of them can be read", () => {
  expect(hexOf(bytes("ab\n"))).toBe(`000000  61 62 0a${" ".repeat(39)}  ab·`);
  expect(hexOf(bytes("x".repeat(17))).split("\n")[1]).toMatch(/^000010 {2}78 +x$/);
});

test("a large body is cut", () => {
  expect(hexOf(new Uint8Array(hexBytesMax * 2)).split("\n")).toHaveLength(hexBytesMax / 16);
});
