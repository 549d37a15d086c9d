import { expect, test } from "vitest";
import { argumentsText, confirmed, confirmsItself, formFault, textFault, toForm, toJson } from "./arguments.ts";

test("form and JSON hold the same arguments, both ways", () => {
  const values = { chat_id: "4711", list: [1, { a: true }] };
  const json = toJson({ mode: "form", values });
  expect(json.mode).toBe("json");
  expect(JSON.parse(argumentsText(json))).toEqual(values);
  expect(toForm(json)).toEqual({ mode: "form", values });
});

test("JSON that a form cannot hold as it is stays JSON, and says why", () => {
  for (const [text, why] of [
    ["{", /^Not JSON/],
    ["[1]", /object/],
    ['{"id": 12345678901234567890}', /digits/],
    ['{"amount": 0.1234567890123456789}', /digits/],
    ['{"amount": [1e-400]}', /digits/],
  ] as const) {
    expect(toForm({ mode: "json", text })).toEqual({ mode: "json", text });
    expect(formFault({ mode: "json", text })).toMatch(why);
  }
  expect(
    formFault({ mode: "json", text: '{"id": "12345678901234567890", "n": 1.5e3, "m": 0.1, "k": "1e-400"}' }),
  ).toBeUndefined();
});

test("JSON is sent as it is written", () => {
  const text = '{ "id": 12345678901234567890 }';
  expect(argumentsText({ mode: "json", text })).toBe(text);
  expect(textFault(text)).toBeUndefined();
});

test("a confirmed call has the arguments of the held one, and confirm", () => {
  expect(confirmed("{}")).toBe('{"confirm":true}');
  expect(confirmed(' { "id": 12345678901234567890 }')).toBe('{"confirm":true, "id": 12345678901234567890 }');
  expect(JSON.parse(confirmed('{"a":{}}'))).toEqual({ confirm: true, a: {} });
});

test("arguments that confirm themselves are told from those that do not", () => {
  expect(confirmsItself('{"confirm": true}')).toBe(true);
  expect(confirmsItself('{"a": "confirm"}')).toBe(false);
  expect(confirmsItself("{")).toBe(false);
});
