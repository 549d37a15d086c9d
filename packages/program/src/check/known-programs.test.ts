import { testContext } from "@svc/testing/programs";
import { sampleProgram } from "@svc/testing/sample-program";
import { expect, test } from "vitest";
import { checkProgram } from "./program.ts";

const context = await testContext();
const text = JSON.stringify(sampleProgram());
const codesOf = (checked: Awaited<ReturnType<typeof checkProgram>>) =>
  "faults" in checked ? checked.faults.map(({ code }) => code) : [];

test("a text that was accepted is not looked at again, against the same view", async () => {
  const first = await checkProgram(text, context);
  expect(await checkProgram(text, context)).toBe(first);
  const other = await checkProgram(text, { ...context, view: { ...context.view } });
  expect(other).not.toBe(first);
  expect(other).toEqual(first);
  expect(await checkProgram(text, { ...context, isStored: true })).not.toBe(first);
  expect(await checkProgram(` ${text}`, context)).not.toBe(first);
});

test("accounts and contacts are asked each time, of each project, and what is missing is told in its place", async () => {
  await checkProgram(text, context);
  const asked: number[] = [];
  const nobody = async (questions: readonly unknown[]) => {
    asked.push(questions.length);
    return questions.map(() => false);
  };
  const lacking = await checkProgram(text, { ...context, hasAccounts: nobody });
  expect(new Set(codesOf(lacking))).toEqual(new Set(["PROGRAM_ACCOUNT_MISSING"]));
  const unknown = await checkProgram(text, { ...context, hasContacts: nobody });
  expect(new Set(codesOf(unknown))).toEqual(new Set(["PROGRAM_CONTACT_UNKNOWN"]));
  expect(asked).toEqual([2, 2, 2, 2]);
  expect(codesOf(await checkProgram(text, context))).toEqual([]);
});

test("what has a fault is never taken for accepted", async () => {
  const faulty = JSON.stringify({ ...sampleProgram(), title: "" });
  for (let times = 0; times < 2; times++) expect(codesOf(await checkProgram(faulty, context))).not.toEqual([]);
});

test("of very many texts those of late are kept", async () => {
  const texts = Array.from({ length: 80 }, (_, index) => `${" ".repeat(55_000 + index)}${text}`);
  const first = await checkProgram(texts[0]!, context);
  for (const one of texts.slice(1)) await checkProgram(one, context);
  const last = await checkProgram(texts.at(-1)!, context);
  expect(await checkProgram(texts.at(-1)!, context)).toBe(last);
  expect(texts.join("").length).toBeGreaterThan(4_000_000);
  expect(await checkProgram(texts[0]!, context)).not.toBe(first);
});
