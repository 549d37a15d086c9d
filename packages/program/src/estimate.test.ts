import { everyConstruct, ifStep, testContext } from "@svc/testing/programs";
import { sampleProgram } from "@svc/testing/sample-program";
import { expect, test } from "vitest";
import { checkProgram } from "./check/program.ts";
import { needsPlanApproval } from "./estimate.ts";

const context = await testContext();

async function checked(program: unknown) {
  const found = await checkProgram(JSON.stringify(program), context);
  if ("faults" in found) throw new Error(JSON.stringify(found.faults));
  return found;
}

const call = (id: string, tool: string, args: object = {}, more: object = {}) => ({
  id,
  call: `messaging_bot.${tool}`,
  entity: "ops",
  args,
  ...more,
});
const text = { chat_id: "@team", text: "x" };

test("the bounds of the documentation's program are its limits where rows decide", async () => {
  expect((await checked(sampleProgram())).estimate).toEqual({
    callsMin: 1,
    callsMax: 5000,
    writesMax: 500,
    destructiveMax: 0,
    rowsMax: 20_000,
    asksMax: 10,
    // The message that the program sends is undone by deleting it, which is a destructive call.
    accessClasses: ["read", "write", "destructive"],
    toolkits: ["calendar", "messaging_bot"],
    entities: ["ops"],
    notCompensable: [],
  });
});

test("calls without rows are counted: repetitions, the larger branch, destructive ones among the writes", async () => {
  const program = {
    version: 1,
    title: "x",
    steps: [
      call("a", "get_me", {}, { retry: { max: 2 } }),
      ifStep("b", "true", [call("c", "get_me"), call("d", "get_me")], [call("e", "send_message", text)]),
      call("f", "delete_message", { chat_id: "@team", message_id: 1, confirm: true }),
    ],
  };
  expect((await checked(program)).estimate).toEqual({
    callsMin: 3,
    callsMax: 6,
    writesMax: 2,
    destructiveMax: 1,
    rowsMax: 0,
    asksMax: 0,
    accessClasses: ["read", "write", "destructive"],
    toolkits: ["messaging_bot"],
    entities: ["ops"],
    notCompensable: ["e", "f"],
  });
});

test("a step that an answer may skip is no least call", async () => {
  const program = {
    version: 1,
    title: "x",
    steps: [{ id: "j", judge: "p" }, call("a", "get_me"), call("b", "get_me")],
    points: { p: { question: "?", continuations: ["proceed", "skip"], escalation: [{ principal: "lead" }] } },
  };
  const { estimate } = await checked(program);
  expect([estimate.callsMin, estimate.callsMax, estimate.asksMax]).toEqual([1, 2, 1]);
});

test("questions about rows are counted without any judge, each as often as an answer may have rows done again", async () => {
  const send = { ...call("a", "send_message"), args: { chat_id: "@team", text: "x" } };
  const program = (continuations: string[]) => ({
    version: 1,
    title: "x",
    limits: { asks: 5 },
    steps: [
      {
        id: "list",
        call: "calendar.list_events",
        entity: "ops",
        args: { calendar_id: "primary" },
        rows: { from: "items[]", keep: ["id"] },
      },
      { id: "m", map: "list", onRows: { failed: "p", unknown: "q" }, do: [send] },
    ],
    points: {
      p: { question: "?", continuations, escalation: [{ principal: "lead" }] },
      q: { question: "?", continuations: ["skip"], escalation: [{ principal: "lead" }] },
    },
  });
  expect((await checked(program(["skip"]))).estimate.asksMax).toBe(2);
  expect((await checked(program(["skip", "retry-with"]))).estimate.asksMax).toBe(5);
});

test("a plan needs approval as the program says, and as the project demands at least", async () => {
  const { program, estimate } = await checked(everyConstruct());
  // The program has a destructive undo call, which counts.
  expect(needsPlanApproval(program, estimate, "never")).toBe(true);
  const writes = { ...estimate, accessClasses: ["read", "write"] as const };
  expect(needsPlanApproval(program, writes, "never")).toBe(false);
  expect(needsPlanApproval(program, writes, "destructive")).toBe(false);
  expect(needsPlanApproval(program, writes, "always")).toBe(true);
  const destructive = { ...estimate, accessClasses: ["destructive"] as const };
  expect(needsPlanApproval(program, destructive, "never")).toBe(true);
  const never = { ...program, approval: { plan: "never", escalation: [] } as const };
  expect(needsPlanApproval(never, destructive, "never")).toBe(false);
  expect(needsPlanApproval(never, destructive, "destructive")).toBe(true);
});
