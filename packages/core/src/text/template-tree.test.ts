import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTemplateTree, placeholdersOfTree, renderTemplateTree, type TemplatePath } from "./template-tree.ts";

const render = (tree: unknown, scope: Record<string, unknown>) => renderTemplateTree(parseTemplateTree(tree), scope);

test("a field whose placeholder is absent is dropped, and so is what that leaves empty", () => {
  const body = { start: { date: "{{params.date}}", zone: "{{params.zone}}" }, tags: ["{{params.tag}}"], kind: "x" };
  expect(render(body, { params: {} })).toEqual({ kind: "x" });
  expect(render(body, { params: { zone: "UTC" } })).toEqual({ start: { zone: "UTC" }, kind: "x" });
  expect(render({ a: { b: ["{{params.a}}"] } }, { params: {} })).toBeUndefined();
});

test("empty objects and lists written down are kept", () => {
  expect(render({ filter: {}, items: [], a: "{{params.a}}" }, { params: {} })).toEqual({ filter: {}, items: [] });
});

test("null is a value, not an absence", () => {
  expect(render({ a: "{{body.a}}" }, { body: { a: null } })).toEqual({ a: null });
});

test("a tree may be one placeholder", () => {
  expect(render("{{params.records}}", { params: { records: [1, 2] } })).toEqual([1, 2]);
});

test("literals are unescaped everywhere", () => {
  expect(render({ a: ["{{{{x}}"], b: "{{params.b}}" }, { params: { b: 1 } })).toEqual({ a: ["{{x}}"], b: 1 });
  expect(render({ a: ["{{{{x}}"] }, {})).toEqual({ a: ["{{x}}"] });
});

test("every fault is reported with its path", () => {
  const faults: TemplatePath[] = [];
  parseTemplateTree({ a: ["ok", "{{"], b: { c: "{{x y}}" } }, (path) => faults.push(path));
  expect(faults).toEqual([
    ["a", 1],
    ["b", "c"],
  ]);
  expect(() => parseTemplateTree({ a: "{{" })).toThrow("not closed");
  expect(() => parseTemplateTree(JSON.parse('{"__proto__": 1}'))).toThrow("__proto__");
});

test("placeholders are listed with the path of their text", () => {
  const found = placeholdersOfTree(parseTemplateTree({ a: ["{{params.x}}-{{params.y}}"], b: "c" }));
  expect(found.map(([placeholder, path]) => [placeholder.text, path])).toEqual([
    ["params.x", ["a", 0]],
    ["params.y", ["a", 0]],
  ]);
});

test("property: a tree without placeholders renders as itself", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes("__proto__"));
      const escaped: unknown = JSON.parse(text, (_key, item: unknown) => {
        return typeof item === "string" ? item.replaceAll("{{", "{{{{") : item;
      });
      expect(render(escaped, {})).toEqual(JSON.parse(text));
    }),
  );
});
