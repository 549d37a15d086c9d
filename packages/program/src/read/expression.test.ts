import { testContext } from "@svc/testing/programs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkProgram } from "../check/program.ts";
import { looksLikeTemplate, rightForm } from "./expression.ts";

const context = await testContext();

const program = (text: unknown, rest: object = {}) => ({
  version: 1,
  title: "Send",
  params: { name: "Ann" },
  ...rest,
  steps: [{ id: "send", call: "messaging_bot.send_message", entity: "ops", args: { chat_id: "@team", text } }],
});

async function faultsOf(given: object, isStored = false) {
  const checked = await checkProgram(JSON.stringify(given), { ...context, isStored });
  return "faults" in checked ? checked.faults : [];
}

test.each<[string, string]>([
  ["{rows.high} incidents paged", '{"$text": "{rows.high} incidents paged"}'],
  ["Hi {{ row.name }}, {{row.deal.title}}!", '{"$text": "Hi {row.name}, {row.deal.title}!"}'],
  ["\u0024{params.name}", '{"$ref": "params.name"}'],
  ["{{steps.sum.count}}", '{"$ref": "steps.sum.count"}'],
  ["{calls.read.data[0].title} and {braces}", '{"$text": "{calls.read.data[0].title} and {{braces}"}'],
  ["{{row.value * 2}}", '{"$cel": "row.value * 2"}'],
  ["{{row.value * 2}} euros", '{"$cel": "…"}'],
  ["Dear {{name}}", '{"$text": "… {path} …"}'],
  ["Total: \u0024{total}", '{"$text": "… {path} …"}'],
  ['At {"$cel": "now"}', '{"$cel":"\\"At \\" + string(now)"}'],
  ['Hi {"$ref": "params.name"}', '{"$text":"Hi {params.name}"}'],
])("%s is refused, and what is right is spelled out", async (text, form) => {
  const [fault, ...others] = await faultsOf(program(text));
  expect(fault).toMatchObject({ code: "PROGRAM_TEMPLATE_LITERAL", pointer: "/steps/0/args/text" });
  expect(fault?.hint).toContain(form);
  expect(fault?.hint).toContain('{"$literal": "…"}');
  expect(others).toEqual([]);
  // A stored program runs as it was accepted, so the text is accepted in it.
  expect(await faultsOf(program(text), true)).toEqual([]);
  expect(await faultsOf(program({ $literal: text }))).toEqual([]);
});

test.each([
  "plain",
  "{}",
  "{ }",
  "{{}}",
  "a {b} c",
  '{"a": {"b": 1}}',
  "100 % {sure}",
  "$5 {x",
  "rows.high",
  "{row}",
  '{"$ref": "#/$defs/a"}',
])("%s is a text like any other", async (text) => expect(await faultsOf(program(text))).toEqual([]));

test("templates are found wherever a value stands: beside others, in what stands in, in results, params and questions", async () => {
  const given = {
    ...program({ $text: "{{params.name}} is {params.name}" }),
    params: { name: "Hello {row.name}", list: ["{{for others}}"] },
    result: { sent: "{rows.sent} sent", name: { $ref: "params.name", else: "{row.name}" } },
    points: {
      go: { question: "Go, {{params.name}}?", continuations: ["proceed"], escalation: [{ principal: "lead" }] },
    },
  };
  const found = (await faultsOf(given)).map(({ code, pointer }) => `${code} ${pointer}`);
  expect(found).toEqual(
    ["/params/name", "/steps/0/args/text/$text", "/result/sent", "/result/name/else", "/points/go/question"]
      .map((pointer) => `PROGRAM_TEMPLATE_LITERAL ${pointer}`)
      .sort((a, b) => order(given, a) - order(given, b)),
  );
  expect(await faultsOf(given, true)).toEqual([]);
});

function order(given: object, fault: string): number {
  return Object.keys(given).indexOf(fault.split("/")[1] ?? "");
}

const path = fc.constantFrom("row.name", "rows.open", "steps.sum.n", "input.a[0].b", "params.x", "calls.read.id");
const braces = fc.constantFrom(["{", "}"], ["{{", "}}"], ["${", "}"], ["{{ ", " }}"]);
const words = fc.string({ maxLength: 20 }).filter((text) => !/[{}$]/.test(text));

test("whatever stands around a path in braces, it is found, and the form that is spelled out is accepted as a text of those paths", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(words, braces, path), { minLength: 1, maxLength: 4 }),
      words,
      async (parts, end) => {
        const text = parts.map(([before, [open, close], name]) => `${before}${open}${name}${close}`).join("") + end;
        expect(looksLikeTemplate(text)).toBe(true);
        const spelled = /^write (.*?); if the braces are part of the text/s.exec(rightForm(text))?.[1] ?? "";
        const form = JSON.parse(spelled) as { $text?: string; $ref?: string };
        const filled = parts.map(([before, , name]) => `${before}{${name}}`).join("") + end;
        if (form.$ref === undefined) expect(form.$text).toBe(filled);
        else expect(`{${form.$ref}}`).toBe(filled.trim());
      },
    ),
    { numRuns: 300 },
  );
});

test("a text without braces is none, and looking for one takes time that grows with its length alone", () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 200 }).filter((text) => !text.includes("{")),
      (text) => !looksLikeTemplate(text),
    ),
  );
  for (const text of [
    "{".repeat(200_000),
    "{{".concat(" ".repeat(200_000)),
    "${row.".repeat(40_000),
    "{row.".repeat(40_000),
  ]) {
    const before = process.cpuUsage();
    looksLikeTemplate(text);
    rightForm(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(200);
  }
});
