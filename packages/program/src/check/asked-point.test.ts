import { ifStep, testContext } from "@svc/testing/programs";
import { expect, test } from "vitest";
import { checkProgram } from "./program.ts";

// The text of a question has no replacement for an absent value. So if a value is known to be absent, the program is refused before a
// person sees the question.

const context = await testContext();

const rows = { from: "data[]", keep: ["id"] };
const deals = { id: "deals", call: "sales_crm.list_deals", entity: "ops", args: {}, rows };
const deal = { id: "deal", call: "sales_crm.get_deal", entity: "ops", args: { deal_id: 1 } };
const gate = { id: "gate", judge: "sure" };
const act = { id: "act", call: "messaging_bot.get_me", entity: "ops" };

async function check(question: string, steps: readonly object[], rest: object = {}, more: object = {}) {
  const sure = { question, continuations: ["proceed", "abort"], escalation: [{ principal: "lead" }] };
  const program = { version: 1, title: "Asks", ...rest, steps, points: { sure } };
  const checked = await checkProgram(JSON.stringify(program), { ...context, ...more });
  return "faults" in checked ? checked.faults : [];
}

test("a question names only what is there where it is asked; one in the store may name what comes later", async () => {
  const later = [gate, deals, act];
  expect(await check("{rows.deals}?", [deals, gate, act])).toEqual([]);
  expect(await check("{rows.deals}?", later)).toMatchObject([
    {
      code: "PROGRAM_REFERENCE_INVALID",
      pointer: "/points/sure/question",
      message: "rows.deals: deals ends later, or is in another branch or map",
    },
  ]);
  expect(await check("{rows.deals}?", later, {}, { isStored: true })).toEqual([]);
});

test("of what may be skipped a question is told where it may be asked, not of an else that it cannot have", async () => {
  const [fault, ...others] = await check("{steps.deal.data.title}?", [{ ...deal, when: "1 < 2" }, gate, act]);
  expect(others).toEqual([]);
  expect(fault?.message).toBe("steps.deal.data.title: step deal may be skipped");
  expect(fault?.hint).toContain("a question has no else");
  expect(await check("{rows.deals}?", [{ ...deals, when: "1 < 2" }, gate, act])).toEqual([]);
  expect(await check("{steps.deal.data.title}?", [ifStep("any", "1 < 2", [deal, gate, act])])).toEqual([]);
});

test("an input that may be absent is required, has a default, is given by the program, or is asked for before", async () => {
  const schema = (team: object, required: string[] = []) => {
    return { inputSchema: { type: "object", required, properties: { team: { type: "string", ...team } } } };
  };
  const steps = [gate, act];
  const question = "For {input.team}?";
  const [fault, ...others] = await check(question, steps, schema({}));
  expect(others).toEqual([]);
  expect(fault).toMatchObject({ code: "PROGRAM_REFERENCE_INVALID", pointer: "/points/sure/question" });
  expect(fault?.hint).toContain('"when": "has(input.team)" at gate');
  expect(await check(question, steps, schema({}), { isStored: true })).toEqual([]);
  expect(await check(question, steps, schema({}), { isInputMade: true })).toEqual([]);
  expect(await check(question, steps, schema({ default: "x" }))).toEqual([]);
  expect(await check(question, steps, { ...schema({}, ["team"]), input: { team: "x" } })).toEqual([]);
  expect(await check(question, steps, { ...schema({}), input: { team: "x" } })).toEqual([]);
  expect(await check(question, [{ ...gate, when: "has(input.team)" }, act], schema({}))).toEqual([]);
  expect(await check(question, [ifStep("any", "has(input.team)", steps)], schema({}))).toEqual([]);
});
