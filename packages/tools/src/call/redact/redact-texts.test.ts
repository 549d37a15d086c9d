import { setImmediate } from "node:timers/promises";
import { processorBudgetMs } from "@svc/testing/processor";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor } from "./redact.ts";
import { redactTexts, redactTextsInTurns } from "./redact-texts.ts";

const secret = "sk/live+51HxQ9aBcDeFgHiJkLmN";
const size = 8_388_000;
const inTurns = (value: unknown, secrets: readonly string[]) =>
  redactTextsInTurns(value, createRedactor(secrets), () => setImmediate());

/**
 * Returns the longest CPU time of a turn, milliseconds: the least of a few tries, because some may include garbage collection for others.
 */
async function longestTurn(value: unknown, secrets: readonly string[]): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && least >= 10; tries++) {
    let most = 0;
    let before = process.threadCpuUsage();
    const end = () => {
      const { user, system } = process.threadCpuUsage(before);
      most = Math.max(most, (user + system) / 1_000);
    };
    const turn = async () => {
      end();
      await setImmediate();
      before = process.threadCpuUsage();
    };
    before = process.threadCpuUsage();
    await redactTextsInTurns(value, createRedactor(secrets), turn);
    end();
    least = Math.min(least, most);
  }
  return least;
}

const hostile: readonly (readonly [name: string, secrets: readonly string[], value: unknown])[] = [
  ["a text without it", [secret], { a: "x".repeat(size) }],
  ["a text full of it", [secret], { a: `${secret} `.repeat(size / 29) }],
  ["what looks like escapes", [secret], { a: `${"\\".repeat(9_000)}${secret}`.repeat(900) }],
  ["as many escapes as are undone", [secret], { a: `${"%41".repeat(12_000)}${secret}`.repeat(200) }],
  ["many texts", [secret, `Bearer ${secret}`], Array.from({ length: 30_000 }, (_, n) => `text ${n} ${secret}`)],
  ["one letter again and again", [`b${"a".repeat(8_000)}`], { a: `b${"a".repeat(7_999)}`.repeat(1_000) }],
];

test.each(hostile)("no turn is held by an answer of 8 MB: %s", async (_name, secrets, value) => {
  expect(await longestTurn(value, secrets)).toBeLessThan(processorBudgetMs(10));
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
