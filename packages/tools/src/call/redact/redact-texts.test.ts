import { setImmediate } from "node:timers/promises";
import { longestTurnMs, processorBudgetMs } from "@svc/testing/processor";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readAnswer } from "../send/read-answer.ts";
import { deskAction } from "../test-toolkits.ts";
import { atOnce, createRedactor } from "./redact.ts";
import { redactTexts, redactTextsInTurns } from "./redact-texts.ts";

const secret = "sk/live+51HxQ9aBcDeFgHiJkLmN";
const size = 8_388_000;
const inTurns = (value: unknown, secrets: readonly string[]) =>
  redactTextsInTurns(value, createRedactor(secrets), { turn: () => setImmediate() });

const hostile: readonly (readonly [name: string, secrets: readonly string[], value: unknown])[] = [
  ["a text without it", [secret], { a: "x".repeat(size) }],
  ["a text full of it", [secret], { a: `${secret} `.repeat(size / 29) }],
  ["what looks like escapes", [secret], { a: `${"\\".repeat(9_000)}${secret}`.repeat(900) }],
  ["as many escapes as are undone", [secret], { a: `${"%41".repeat(12_000)}${secret}`.repeat(200) }],
  ["many texts", [secret, `Bearer ${secret}`], Array.from({ length: 30_000 }, (_, n) => `text ${n} ${secret}`)],
  ["one letter again and again", [`b${"a".repeat(8_000)}`], { a: `b${"a".repeat(7_999)}`.repeat(1_000) }],
];

test.each(hostile)("no turn is held by an answer of 8 MB: %s", async (_name, secrets, value) => {
  const source = JSON.stringify(value);
  const redact = () => redactTextsInTurns(value, createRedactor(secrets), { turn: () => setImmediate(), source });
  expect(await longestTurnMs(redact, 10)).toBeLessThan(processorBudgetMs(10));
});

/** Writes JSON as a hostile app might: each character plain, as a code in upper or lower case, or as its short escape. */
function writeHostile(value: unknown, waysOf: readonly number[]): string {
  let at = 0;
  const unit = (text: string) => {
    const plain = JSON.stringify(text).slice(1, -1);
    const code = `\\u${text.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return [plain, plain, code, code.toUpperCase().replace("U", "u"), text === "/" ? "\\/" : plain][
      waysOf[at++ % waysOf.length] ?? 0
    ];
  };
  const text = (given: string) => `"${given.split("").map(unit).join("")}"`;
  const write = (part: unknown): string => {
    if (typeof part === "string") return text(part);
    if (Array.isArray(part)) return `[${part.map(write).join(" ,")}]`;
    if (typeof part !== "object" || part === null) return JSON.stringify(part);
    const fields = Object.entries(part).map(([name, child]) => `${text(name)}: ${write(child)}`);
    return `{${fields.join(",")}}`;
  };
  return write(value);
}

const formsOf = (of: string) => [
  ...[of, JSON.stringify(of).slice(1, -1), JSON.stringify({ [of]: of }), encodeURIComponent(of), of.slice(4)],
  ...[Buffer.from(`u:${of}`).toString("base64"), Buffer.from(of).toString("hex").toUpperCase()],
  of.replaceAll(/./gs, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`),
];

test("an answer is redacted alike with and without the search of its source, however the app escapes the credential", async () => {
  const secrets = [secret, `Bearer ${secret}`, "31415926535", "kurz", "\u00e9\u00e8\u00ea"];
  const piece = fc.oneof(
    fc.constantFrom(...secrets.flatMap(formsOf), "31415926535e0", "plain"),
    fc.string({ maxLength: 6 }),
  );
  const texts = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(""));
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      texts,
      fc.constantFrom(1, null, true, 31_415_926_535),
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(fc.oneof(texts, fc.constantFrom("id", "state")), tie("tree"), { maxKeys: 4 }),
    ),
  }));
  const output = { type: "object", properties: { id: { type: "string" }, state: { type: "object" } } };
  const actions = [
    deskAction("read_ticket", { output: { type: "object" } }),
    deskAction("read_ticket", { output }),
    deskAction("read_ticket", { output: { type: "object", properties: { id: { type: "string" } } } }),
    deskAction("read_ticket", { output, response: { unwrap: "id" } }),
    deskAction("read_ticket", { output: { type: "object" }, response: { under: "kurz" } }),
    deskAction("read_ticket", { output: { type: "object" }, response: { empty: { id: secret } } }),
  ];
  const known = fc.array(fc.constantFrom(...secrets), { minLength: 1, maxLength: 3 });
  const ways = fc.array(fc.nat(4), { minLength: 1, maxLength: 40 });
  let [sourced, spared] = [0, 0];
  await fc.assert(
    fc.asyncProperty(tree, ways, known, fc.constantFrom(...actions), async (value, waysOf, given, action) => {
      const redact = createRedactor(given);
      const { ofName = String } = redact;
      const body = Buffer.from(writeHostile(value, waysOf));
      const { value: read, source } = atOnce(
        readAnswer(action, { status: 200, headers: {}, body }, { isRepeatable: true, nowMs: 0, redact }),
      );
      const turn = async () => {};
      const shown = await redactTextsInTurns(read, redact, { turn, source });
      expect(shown).toEqual(
        redactTexts(
          read,
          Object.assign((text: string) => redact(text), { ofName }),
        ),
      );
      if (source !== undefined) sourced++;
      if (source !== undefined && redact.spares && atOnce(redact.spares(source))) spared++;
    }),
    { numRuns: 2_000 },
  );
  // The faster check is useful: it spares some texts the search, but not all.
  expect(spared).toBeGreaterThan(20);
  expect(sourced - spared).toBeGreaterThan(200);
});

test("a secret is found at any position of a long text, in any form", async () => {
  const written = [
    secret,
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
    encodeURIComponent(encodeURIComponent(secret)),
    Buffer.from(secret).toString("hex"),
    Buffer.from(`user:${secret}`).toString("base64"),
    secret.replaceAll(/[/+]/g, (sign) => `&#x${sign.charCodeAt(0).toString(16)};`),
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: -200, max: 5 }),
      fc.constantFrom(1, 2, 3),
      fc.constantFrom(...written),
      async (offset, part, form) => {
        const before = ".".repeat(part * 32_768 + offset);
        const text = `${before} ${form} ${".".repeat(70_000)}`;
        const [shown] = (await inTurns([text], [secret])) as [string];
        expect(shown).toMatch(/^\.+ .{0,7}\*{3}=? \.+$/);
        expect(shown.indexOf(" ")).toBe(before.length);
        expect(shown.endsWith(` ${".".repeat(70_000)}`)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

test("a large result is redacted like a small one, including names such as __proto__, and one without secrets is the same value", async () => {
  const item = JSON.parse(`{"__proto__": "x ${secret}", "id ${secret}": 1, "same": ["a", null, 2, true]}`);
  const many = Array.from({ length: 2_000 }, () => item);
  const shown = (await inTurns(many, [secret])) as unknown[];
  expect(JSON.stringify(shown[1_999])).toBe('{"__proto__":"x ***","id ***":1,"same":["a",null,2,true]}');
  expect(redactTexts(item, createRedactor([secret]))).toEqual(shown[0]);
  expect(await inTurns(many, ["another-secret"])).toBe(many);
});
