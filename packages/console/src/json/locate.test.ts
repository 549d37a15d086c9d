import fc from "fast-check";
import { expect, test } from "vitest";
import { locatePointer } from "./locate.ts";

const text = '{\n  "steps": [\n    {"id": "a", "args": {"x/y": [1, "}"]}},\n    {"id": "b"}\n  ]\n}';
const at = (pointer: string) => {
  const { from, to } = locatePointer(text, pointer);
  return text.slice(from, to);
};

test("a pointer leads to its member with its name, or to its item", () => {
  expect(at("/steps/1")).toBe('{"id": "b"}');
  expect(at("/steps/0/args/x~1y")).toBe('"x/y": [1, "}"]');
  expect(at("/steps/0/args/x~1y/1")).toBe('"}"');
});

test("what is missing is marked at what it is missing from", () => {
  expect(at("/steps/1/entity")).toBe('{"id": "b"}');
  expect(at("/nothing")).toBe(text);
  expect(locatePointer("{", "/a/b")).toEqual({ from: 0, to: 1 });
});

test("every value of any JSON is found by its pointer, however the text is laid out", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom(0, 2), (value, indent) => {
      const json = JSON.stringify(value, undefined, indent);
      const check = (part: unknown, pointer: string) => {
        const { from, to } = locatePointer(json, pointer);
        const found = json.slice(from, to);
        const name = pointer.split("/").at(-1) ?? "";
        const isMember = found.startsWith(`${JSON.stringify(name.replaceAll("~1", "/").replaceAll("~0", "~"))}:`);
        const own = isMember
          ? found.slice(found.indexOf(":", JSON.stringify(name.replaceAll("~1", "/").replaceAll("~0", "~")).length) + 1)
          : found;
        expect(JSON.parse(own)).toEqual(JSON.parse(JSON.stringify(part)));
        if (typeof part !== "object" || part === null) return;
        for (const [key, inner] of Object.entries(part)) {
          check(inner, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
        }
      };
      check(value, "");
    }),
    { numRuns: 25 },
  );
});
