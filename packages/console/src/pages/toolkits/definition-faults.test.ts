import { expect, test } from "vitest";
import { placeDefinitionFaults } from "./definition-faults.ts";

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
