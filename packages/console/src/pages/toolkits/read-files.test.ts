import { expect, test } from "vitest";
import { readDefinition } from "./read-files.ts";

test("a toolkit's folder becomes one definition, with what does not belong to it left out", async () => {
  const read = await readDefinition([
    { path: "shop/tools/read_order.yaml", text: "kind: action\nintents: [a, b]\n" },
    { path: "shop/toolkit.yaml", text: "slug: shop # ours\nversion: '1.0.0'\n" },
    { path: "shop/README.md", text: "# Shop" },
    { path: "shop/tools/.read_order.yaml.swp", text: "junk: [" },
  ]);
  expect(JSON.parse("text" in read ? read.text : "")).toEqual({
    toolkit: { slug: "shop", version: "1.0.0" },
    tools: { read_order: { kind: "action", intents: ["a", "b"] } },
  });
});

test("one file of JSON is taken as it is, laid out where it was one line", async () => {
  const text = '{\n"toolkit": {}}';
  expect(await readDefinition([{ path: "shop.json", text }])).toEqual({ text });
  expect(await readDefinition([{ path: "shop.json", text: '{"a":1}' }])).toEqual({ text: '{\n  "a": 1\n}' });
});

test("what is no definition says what would be one, and YAML that is broken says where", async () => {
  expect(await readDefinition([{ path: "shop.csv", text: "" }])).toEqual({
    problem: "Choose a toolkit's folder, with toolkit.yaml in it, or one file of JSON: shop.csv is neither.",
  });
  const broken = await readDefinition([{ path: "shop/toolkit.yaml", text: "slug: shop\nname: [a\n" }]);
  expect(broken).toEqual({ problem: expect.stringMatching(/^shop\/toolkit\.yaml:\d: /) });
});
