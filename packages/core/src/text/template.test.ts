import fc from "fast-check";
import { expect, test } from "vitest";
import { rawJson } from "../json/raw-json.ts";
import { parseTemplate, renderTemplate, TemplateSyntaxError, TemplateValueError } from "./template.ts";

const render = (text: string, scope: Record<string, unknown>) => renderTemplate(parseTemplate(text), scope);

test("a value that is one placeholder keeps its type", () => {
  for (const value of [1, true, null, "a", [1], { a: 1 }]) {
    expect(render("{{params.value}}", { params: { value } })).toEqual(value);
  }
});

test("placeholders inside a text are filled in as text", () => {
  expect(render("a{{ params.n }}b{{params.flag}}", { params: { n: 1, flag: false } })).toBe("a1bfalse");
});

test("a text with an absent or null value is absent as a whole", () => {
  expect(render("id:{{body.id}}", { body: {} })).toBeUndefined();
  expect(render("id:{{body.id}}", { body: { id: null } })).toBeUndefined();
  expect(render("{{body.a.b[3].c}}", { body: { a: { b: [1] } } })).toBeUndefined();
  expect(render("{{body.a}}", {})).toBeUndefined();
});

test("paths walk objects, lists and query parameters, and nothing inherited", () => {
  expect(render("{{body.a[1].b-c}}", { body: { a: [0, { "b-c": 7 }] } })).toBe(7);
  expect(render("{{query.token}}", { query: new URLSearchParams("token=t&token=u") })).toBe("t");
  for (const path of ["constructor", "__proto__", "toString", "list.length", "text.length"]) {
    expect(render(`{{body.${path}}}`, { body: { list: [1], text: "a" } })).toBeUndefined();
  }
});

test("a quoted name may have any characters, as names of form fields do, and reads nothing inherited", () => {
  const body = { "data[merges][EMAIL]": "ada@example.com", "a.b": [{ "c d": 7 }] };
  expect(render('{{body["data[merges][EMAIL]"]}}', { body })).toBe("ada@example.com");
  expect(render('to {{ body["a.b"][0]["c d"] | int }}', { body })).toBe("to 7");
  expect(render('{{body["__proto__"]}}', { body })).toBeUndefined();
  for (const path of ['body[""]', 'body["a', 'body["a"', 'body["a|b"]', "body['a']", 'body["a"b"]'])
    expect(() => parseTemplate(`{{${path}}}`), path).toThrow(TemplateSyntaxError);
});

test("int takes integers and their text, with all their digits", () => {
  expect(render("{{body.n | int}}", { body: { n: "42" } })).toBe(42);
  expect(render("{{body.n|int}}", { body: { n: -3 } })).toBe(-3);
  for (const n of ["", "1.5", "1e3", " 1", "0x10", 1.5, true, [1], 2 ** 53, Number.NaN, "1".repeat(401)]) {
    expect(() => render("{{body.n | int}}", { body: { n } }), String(n)).toThrow(TemplateValueError);
  }
  for (const n of ["9007199254740993", "-9223372036854775808", "0018446744073709551615"]) {
    const exact = render("{{body.n | int}}", { body: { n } });
    expect(JSON.stringify(exact)).toBe(n.replace(/^00/, ""));
    expect(JSON.stringify(render("{{body.n | int}}", { body: { n: exact } }))).toBe(n.replace(/^00/, ""));
  }
  for (const n of [rawJson("9007199254740993.5"), rawJson("1e400")]) {
    expect(() => render("{{body.n | int}}", { body: { n } })).toThrow("is not an integer");
  }
});

test("a number of many digits is a scalar: it fits in a text and in a list, and has no fields", () => {
  const body = { id: rawJson("9007199254740993") };
  expect(render("id {{body.id}}", { body })).toBe("id 9007199254740993");
  expect(render("{{body.list | csv}}", { body: { list: [body.id, 1] } })).toBe("9007199254740993,1");
  expect(render("{{body.id | json}}", { body })).toBe("9007199254740993");
  expect(JSON.stringify(render("{{body.id}}", { body }))).toBe("9007199254740993");
  expect(render("{{body.id.rawJSON}}", { body })).toBeUndefined();
});

test("json, csv and each shape lists and objects", () => {
  const params = { ids: ["a", "b"], filter: { a: 1 } };
  expect(render("{{params.filter | json}}", { params })).toBe('{"a":1}');
  expect(render("q={{params.filter | json}}", { params })).toBe('q={"a":1}');
  expect(render("{{params.ids | csv}}", { params })).toBe("a,b");
  expect(render("{{params.ids | each(id)}}", { params })).toEqual([{ id: "a" }, { id: "b" }]);
  expect(render("{{params.ids | each(id) | json}}", { params })).toBe('[{"id":"a"},{"id":"b"}]');
  expect(() => render("{{params.filter | each(id)}}", { params })).toThrow("is not a list");
  expect(() => render("{{params.filter | csv}}", { params })).toThrow("csv takes");
  expect(() => render("ids {{params.ids}}", { params })).toThrow("use | json or | csv");
});

test("segment gives the decoded path segment after a word", () => {
  const segment = (address: string) => render("{{headers.u | segment(calendars)}}", { headers: { u: address } });
  expect(segment("https://api.example.com/v3/calendars/me%40example.com/events?alt=json")).toBe("me@example.com");
  expect(segment("/calendars/a/calendars/b")).toBe("a");
  expect(segment("https://api.example.com/v3/calendars")).toBeUndefined();
  expect(segment("https://api.example.com/v3/?calendars/x")).toBeUndefined();
  expect(() => segment("/calendars/%E0%A4%A")).toThrow("percent-encoded");
});

test("four braces are a literal", () => {
  expect(render("{{{{name}} {{params.a}}", { params: { a: 1 } })).toBe("{{name}} 1");
});

test("what is not the language is refused with its position", () => {
  const wrong = ["{{", "a {{params.a", "{{}}", "{{params a}}", "{{params.a | upper}}", "{{params.a | each}}"];
  wrong.push("{{params.a | int(3)}}", "{{1a}}", "{{params.}}", "{{params[x]}}", "{{params.a | each(__proto__)}}");
  for (const text of wrong) expect(() => parseTemplate(text), text).toThrow(TemplateSyntaxError);
  expect(() => parseTemplate("abc {{!}}")).toThrow("character 5");
});

test("property: a text without braces renders as itself, and escaped braces as braces", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(render(text.replaceAll("{{", "{{{{"), {})).toBe(text);
    }),
  );
});

test("property: parsing any text either gives a template or a syntax error", () => {
  const pieces = fc.constantFrom("{{", "}}", "{", "}", "|", ".", "params", "a", "[0]", " ", "int", "each(x)");
  fc.assert(
    fc.property(
      fc.array(pieces).map((parts) => parts.join("")),
      (text) => {
        try {
          expect(parseTemplate(text).text).toBe(text);
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateSyntaxError);
        }
      },
    ),
  );
});

test("property: one placeholder returns any JSON value unchanged, and json writes it as JSON.stringify does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(render("{{body.value}}", { body: { value } })).toBe(value);
      expect(render("{{body.value | json}}", { body: { value } })).toBe(JSON.stringify(value));
    }),
  );
});

test("property: segment decodes what encodeURIComponent encoded", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (word) => {
      const address = `https://api.example.com/v1/things/${encodeURIComponent(word)}/parts?x=1`;
      expect(render("{{body.u | segment(things)}}", { body: { u: address } })).toBe(word);
    }),
  );
});
