import { type PinnedSkills, parseCheckedProgram } from "@svc/program";
import { expect, test } from "vitest";
import { destructiveOf, planText } from "./plan-text.ts";

const estimate = {
  callsMin: 1,
  callsMax: 1_012,
  writesMax: 3,
  destructiveMax: 2,
  rowsMax: 1_000,
  asksMax: 1,
  accessClasses: ["read", "write", "destructive"],
  toolkits: ["sales_crm"],
  entities: ["ops"],
  notCompensable: ["purge"],
} as const;

test("a plan says what it does at most, and with which tools it destroys", () => {
  const program = { title: "Clean up", steps: [] };
  expect(planText({ program, estimate, destructive: ["sales_crm.delete_activity"] })).toBe(
    'Approve the plan "Clean up"? At most 1,012 calls: 3 writes, 2 of them destructive (sales_crm.delete_activity); 1,000 rows; ' +
      "1 question. It cannot undo: purge.",
  );
  const reading = {
    ...estimate,
    callsMax: 1,
    writesMax: 0,
    destructiveMax: 0,
    rowsMax: 0,
    asksMax: 0,
    notCompensable: [],
  };
  expect(planText({ program, estimate: reading, destructive: [] })).toBe(
    'Approve the plan "Clean up"? At most 1 call: no writes.',
  );
});

test("however many tools and steps there are, the text is short and tells how many are left out", () => {
  const names = (letter: string) => Array.from({ length: 40 }, (_, index) => letter.repeat(60) + index);
  const program = { title: "Clean up", steps: [] };
  const text = planText({ program, estimate: { ...estimate, notCompensable: names("s") }, destructive: names("t") });
  expect(text.length).toBeLessThan(500);
  expect(text).toContain("ttt0, ");
  expect(text).toMatch(/sss1 and 38 more\.$|sss0 and 39 more\.$|sss2 and 37 more\.$/);
});

test("what destroys is told of calls, of rows, of requests and of skills; an undo call is none of it", () => {
  const gone = { call: "desk.delete_note", entity: "ops", args: { id: "n1", confirm: true } };
  const program = parseCheckedProgram(
    JSON.stringify({
      version: 1,
      title: "Clean up",
      steps: [
        {
          id: "note",
          call: "desk.send_note",
          entity: "ops",
          args: { text: "a" },
          undo: { call: "desk.undo_note", args: {} },
        },
        { id: "first", ...gone },
        { id: "second", ...gone },
        { id: "web", http: { method: "DELETE", url: "https://example.com/a" }, confirm: true },
        { id: "sweep", run: "skills.sweep@1" },
      ],
    }),
  );
  const isDestructive = (slug: string) => slug === "desk.delete_note" || slug === "desk.undo_note";
  const sweep = { slug: "sweep", version: 1, digest: "", estimate };
  const skills: PinnedSkills = { "skills.sweep@1": sweep };
  expect(destructiveOf(program, { isDestructive, skills })).toEqual([
    "desk.delete_note",
    "http DELETE",
    "skills.sweep@1",
  ]);
});
