import { expect, test } from "vitest";
import { checkProgram } from "./check-program.ts";
import { pathOf } from "./faults.ts";
import { faultyPrograms } from "./faulty-programs.ts";
import { sampleProgram } from "./sample-program.ts";
import { everyConstruct, ifStep, testContext } from "./test-programs.ts";

const context = await testContext();

function check(program: unknown) {
  return checkProgram(typeof program === "string" ? program : JSON.stringify(program), context);
}

async function faultsOf(program: unknown) {
  const checked = await check(program);
  return "faults" in checked ? checked.faults : [];
}

async function codesOf(program: unknown) {
  return (await faultsOf(program)).map(({ code, pointer }) => `${code.slice("PROGRAM_".length)} ${pointer}`);
}

/** The value that a pointer names; undefined when it names none. */
function at(document: unknown, pointer: string): unknown {
  return pathOf(pointer).reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], document);
}

test("the program of the documentation has no fault", async () => {
  expect(await faultsOf(sampleProgram())).toEqual([]);
});

test("a program of every construct has no fault", async () => {
  expect(await faultsOf(everyConstruct())).toEqual([]);
});

test.each(faultyPrograms)(
  "$name: every fault is told at once, at its place, in the order of the text",
  async (entry) => {
    const { program, faults } = entry;
    const found = await faultsOf(program);
    expect(found.map(({ code, pointer }) => `${code.slice("PROGRAM_".length)} ${pointer}`)).toEqual(faults);
    for (const { pointer, message, hint } of found) {
      expect(at(program, pointer), pointer).toBeDefined();
      expect(message).not.toBe("");
      expect(hint).not.toBe("");
    }
  },
);

test("there is a faulty program for every reason but the size", () => {
  const codes = new Set(faultyPrograms.flatMap(({ faults }) => faults.map((fault) => fault.split(" ")[0])));
  expect([...codes].sort()).toEqual(
    [
      "ACCOUNT_MISSING",
      "ARGUMENT_INVALID",
      "CONFIRM_MISSING",
      "CONTACT_UNKNOWN",
      "EXPRESSION_INVALID",
      "LIMIT_INVALID",
      "MALFORMED",
      "POINT_INVALID",
      "REFERENCE_INVALID",
      "TOOL_NOT_CALLABLE",
      "TOOL_UNKNOWN",
    ].sort(),
  );
});

test("what is no JSON object is malformed", async () => {
  for (const text of ["", "{", "null", "[]", '"x"', "1"]) expect(await codesOf(text)).toEqual(["MALFORMED "]);
});

test("text that readers could take differently is refused: names twice, half surrogates, U+0000, __proto__", async () => {
  const text = JSON.stringify(everyConstruct())
    .replace('"title":', '"title":"first","title":')
    .replace('"note":"Hello"', '"note":"\\ud800","__proto__":{"a":1}')
    .replace('"AN"', '"x"');
  expect(await codesOf(text)).toEqual(["MALFORMED /title", "MALFORMED /params", "MALFORMED /params/note"]);
  expect(await codesOf(JSON.stringify({ ...everyConstruct(), title: "\0" }))).toEqual(["MALFORMED /title"]);
});

test("256 KiB and 100 steps are allowed, one more is too large", async () => {
  const pauses = (count: number) => ({
    version: 1,
    title: "x",
    steps: Array.from({ length: count }, (_, index) => ({ id: `s${index}`, wait: "1s" })),
  });
  expect(await codesOf(pauses(100))).toEqual([]);
  expect(await codesOf(pauses(101))).toEqual(["TOO_LARGE /steps"]);
  const padded = (bytes: number) => JSON.stringify(pauses(1)).padEnd(bytes);
  expect(await codesOf(padded(262_144))).toEqual([]);
  expect(await codesOf(padded(262_145))).toEqual(["TOO_LARGE "]);
});

test("steps of branches and calls of maps count too", async () => {
  const program = everyConstruct();
  const pauses = Array.from({ length: 95 }, (_, index) => ({ id: `s${index}`, wait: "1s" }));
  program.steps[2] = ifStep("choice", "true", pauses);
  expect(await codesOf(program)).toContain("TOO_LARGE /steps");
});

test("nesting is refused before it costs anything", async () => {
  const deep = (levels: number) => `{"version":1,"title":"x","steps":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  expect(await codesOf(deep(100_000))).toEqual(["MALFORMED "]);
});

test("programs made to take long are answered within a second", async () => {
  const many = <T>(count: number, make: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => make(index));
  const programs = [
    { ...everyConstruct(), colours: Object.fromEntries(many(20_000, (index) => [`c${index}`, 1])) },
    { ...everyConstruct(), ...Object.fromEntries(many(20_000, (index) => [`c${index}`, 1])) },
    { ...everyConstruct(), params: Object.fromEntries(many(15_000, (index) => [`p${index}`, { $ref: "x" }])) },
    { version: 1, title: "x", steps: many(5000, (index) => ({ id: `s${index}`, map: "x", do: [] })) },
    {
      version: 1,
      title: "x",
      steps: [{ id: "a", wait: "1s" }],
      points: Object.fromEntries(many(5000, (index) => [`p${index}`, {}])),
    },
  ];
  for (const program of programs) {
    const started = performance.now();
    await check(program);
    expect(performance.now() - started).toBeLessThan(1000);
  }
});

test("more than 500 faults are counted, not listed", async () => {
  const program = {
    ...everyConstruct(),
    ...Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`c${index}`, 1])),
  };
  const checked = await check(program);
  expect(checked).toHaveProperty("omitted", 200);
  expect(checked).toHaveProperty("faults.length", 500);
});

test("accounts and contacts are asked for together, each once", async () => {
  const asked: string[][] = [];
  await checkProgram(JSON.stringify(sampleProgram()), {
    ...context,
    hasAccounts: async (questions) => {
      asked.push(questions.map(({ toolkit, entity }) => `${toolkit.slug} ${entity}`));
      return questions.map(() => true);
    },
    hasContacts: async (principals) => {
      asked.push([...principals]);
      return principals.map(() => true);
    },
  });
  expect(asked).toEqual([
    ["calendar ops", "messaging_bot ops"],
    ["head", "lead"],
  ]);
});

test("no message repeats an argument's value", async () => {
  const program = everyConstruct();
  const [plan] = program.steps as { args: Record<string, unknown> }[];
  if (plan !== undefined)
    plan.args = { calendar_id: ["planted-marker"], time_min: "planted-marker", planted: "planted-marker" };
  const faults = await faultsOf(program);
  expect(faults.length).toBeGreaterThan(2);
  expect(JSON.stringify(faults)).not.toContain("planted-marker");
});
