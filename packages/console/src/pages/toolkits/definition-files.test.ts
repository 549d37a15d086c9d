import { expect, test } from "vitest";
import { placeDefinitionFaults, readDefinition } from "./definition-files.ts";

const text = `{
  "toolkit": { "slug": "shop",
    "category": "fun"
  },
  "tools": {
    "read_order": {
      "intents": ["a", "b",
        "c"]
    }
  }
}`;
const fault = (field: string) => ({ reason: "DEFINITION_INVALID", field, help: `wrong; mend ${field}` });

test("each fault stands at the line of what it is about, in the order of the text", () => {
  const fields = [
    "definitionJson.tools.read_order.intents[2]",
    "definitionJson.toolkit.category",
    "definitionJson.definition",
  ];
  const placed = placeDefinitionFaults(text, fields.map(fault));
  expect(placed.map(({ line, reason }) => [line, reason])).toEqual([
    [1, "the whole"],
    [3, "toolkit › category"],
    [8, "tools › read_order › intents › 2"],
  ]);
  expect(text.slice(placed[1]?.mark.from, placed[1]?.mark.to)).toBe('"category": "fun"');
});

test("what is not there is placed at what should hold it", () => {
  const [placed] = placeDefinitionFaults(text, [fault("definitionJson.tools.read_order.request")]);
  expect(placed).toMatchObject({ line: 6, message: "wrong; mend definitionJson.tools.read_order.request", help: "" });
});

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
    problem: "Choose the folder of an app with toolkit.yaml in it, or one JSON file: shop.csv is neither.",
  });
  const broken = await readDefinition([{ path: "shop/toolkit.yaml", text: "slug: shop\nname: [a\n" }]);
  expect(broken).toEqual({ problem: expect.stringMatching(/^shop\/toolkit\.yaml:\d: /) });
});
