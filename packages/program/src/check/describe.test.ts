import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isObject } from "@svc/core";
import { everyConstruct, ifStep, testContext } from "@svc/testing/programs";
import { repeats } from "@svc/testing/sample";
import { sampleProgram } from "@svc/testing/sample-program";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type DescribedStep, describeProgram, type ProgramDescription, type ProgramRead } from "./describe.ts";
import { checkProgram } from "./program.ts";

const context = await testContext();

async function describe(program: unknown): Promise<ProgramDescription> {
  const described = await describeProgram(JSON.stringify(program), context);
  if (described === undefined) throw new Error("the program cannot be read");
  return described;
}

/** Returns the reads of a step as texts such as `rows deals.title`. */
function readsOf({ steps }: ProgramDescription, id: string): string[] {
  const step = steps.find((one) => one.id === id);
  return (step?.reads ?? []).map(textOf).toSorted();
}

function textOf({ what, from, path }: ProgramRead): string {
  return `${what} ${[from, ...(path === "" ? [] : [path])].join(".")}`;
}

test("each construct of the language says what it reads, of which step, input or param", async () => {
  const described = await describe(everyConstruct());
  expect(readsOf(described, "plan")).toEqual(["params params.calendar"]);
  expect(readsOf(described, "named")).toEqual(["rows plan", "rows plan.summary"]);
  expect(readsOf(described, "choice")).toEqual(["count named", "input input.chat", "params params.least"]);
  expect(readsOf(described, "until")).toEqual(["input input.start"]);
  expect(readsOf(described, "poll")).toEqual(["value look.id"]);
  expect(readsOf(described, "approve")).toEqual(["params params.note", "value me", "value me.id"]);
  expect(readsOf(described, "check")).toEqual(["count named", "count plan"]);
  expect(readsOf(described, "tell")).toEqual(["count tell", "rows named"]);
  expect(readsOf(described, "write")).toEqual([
    "input input.chat",
    "params params.note",
    "rows named.start.dateTime",
    "rows named.summary",
    "undone write.message_id",
  ]);
  expect(readsOf(described, "mend")).toEqual(["answer write.message_id", "count named", "input input.chat"]);
  expect(readsOf(described, "sum")).toEqual(["rows tell"]);
  expect(described.result.map(({ name, type, reads }) => [name, type, ...reads.map(textOf)])).toEqual([
    ["all", "number", "value sum.all"],
    ["who", "string", "value me.username"],
    ["note", ""],
  ]);
});

test("a step says where it is, what it does and the strongest class of its calls", async () => {
  const { title, steps } = await describe(everyConstruct());
  expect(title).toBe("Every construct");
  const rows = steps.map(({ id, kind, parentId, branch, title, tool, access }) => {
    return [id, kind, `${parentId}/${branch}`, title, tool, access ?? ""].join(" | ");
  });
  expect(rows).toMatchInlineSnapshot(`
    [
      "plan | call | / | List events | calendar.list_events | read",
      "named | filter | / | Keep has(summary) && summary.startsWith('A') |  | ",
      "choice | if | / | If rows.named > params.least && input.chat != '' |  | ",
      "me | call | choice/then | Get me | messaging_bot.get_me | read",
      "pause | wait | choice/then | Wait 10m |  | ",
      "aside | parallel | choice/then | 2 branches at once |  | ",
      "twice | call | aside/one | Get me | messaging_bot.get_me | read",
      "rest | wait | aside/two | Wait 1m |  | ",
      "until | wait | choice/else | Wait until a time |  | ",
      "poll | until | choice/else | Repeat until steps.look.id > 0.0 |  | ",
      "look | call | poll/do | Get me | messaging_bot.get_me | read",
      "sorry | wait | choice/onError | Wait 1m |  | ",
      "approve | judge | / | Ask an approver for approval |  | ",
      "check | judge | / | Ask lead, head |  | ",
      "tell | map | / | For each row: Send message, Edit message text | messaging_bot.send_message | write",
      "write | call | tell/do | Send message | messaging_bot.send_message | write",
      "mend | call | tell/do | Edit message text | messaging_bot.edit_message_text | write",
      "sum | reduce | / | Count rows, Count unknown rows |  | ",
    ]
  `);
});

test("the names of a step are those that it can use, with their types, and at most 100", async () => {
  const described = await describe({ ...everyConstruct() });
  const namesOf = (id: string) =>
    Object.fromEntries(
      described.steps.find((step) => step.id === id)?.scope.map(({ name, type }) => [name, type]) ?? [],
    );
  expect(namesOf("plan")).toEqual({
    "input.chat": "string",
    "input.start": "string",
    "input.tags": "array",
    "params.least": "number",
    "params.calendar": "string",
    "params.note": "string",
  });
  expect(namesOf("named")).toMatchObject({
    "row.summary": "string",
    "row.start": "object",
    "row.start.dateTime": "string",
    "rows.plan": "number",
  });
  expect(namesOf("mend")).toMatchObject({
    "row.summary": "string",
    "calls.write.message_id": "number",
    "steps.me.id": "number",
  });
  // A branch does not know the names of the other branch.
  expect(Object.keys(namesOf("until"))).not.toContain("steps.me");
  for (const { scope, hasMoreNames } of described.steps)
    expect(scope.length <= 100 && (scope.length === 100 || !hasMoreNames)).toBe(true);
});

test("a faulty program is described as far as it can be read, and a name that does not exist is no read", async () => {
  const program = {
    version: 1,
    title: "Faulty",
    steps: [
      { id: "me", call: "messaging_bot.get_me", entity: "ops" },
      {
        id: "send",
        call: "messaging_bot.send_message",
        entity: "nobody",
        args: { chat_id: { $ref: "steps.nope.id" }, text: { $text: "{steps.me.first_name} {steps.later.id}" } },
      },
      { id: "broken", filter: 5 },
      { id: "after", limit: "broken", max: 3 },
      { id: "later", call: "no.such_tool", entity: "ops" },
    ],
  };
  const described = await describe(program);
  expect(described.steps.map(({ id }) => id)).toEqual(["me", "send", "after", "later"]);
  expect(readsOf(described, "send")).toEqual(["value me.first_name"]);
  expect(readsOf(described, "after")).toEqual([]);
  expect(await describeProgram("{", context)).toBeUndefined();
  const many = Array.from({ length: 101 }, (_, index) => ({ id: `s${index}`, wait: "1m" }));
  expect(await describeProgram(JSON.stringify({ ...program, steps: many }), context)).toBeUndefined();
});

/** A step as the program's text has it. */
type Written = Readonly<Record<string, unknown>>;

const setFields = [
  "filter",
  "map",
  "reduce",
  "sort",
  "limit",
  "distinct",
  "join",
  "with",
  "group",
  "compute",
  "flatten",
];

/**
 * Returns the names that the text of a step contains, as a reader finds them: each `$ref`, each name in braces, each path in an expression
 * and each set. Names in steps inside the step are not included.
 */
function namesWritten(step: Written, points: Written): string[] {
  const found = new Set<string>();
  const cel = (source: unknown) => {
    const bare = String(source).replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, "''");
    for (const [path] of bare.matchAll(/(?<![\w.])(?:steps|rows|input|params|row|calls|output)(?:\.\w+(?!\w*\())+/g))
      found.add(path);
  };
  const texts = (text: unknown) => {
    for (const [, path] of String(text)
      .replaceAll("{{", "")
      .matchAll(/\{\s*([a-z]+\.[^}\s]+)\s*\}/g))
      found.add(path ?? "");
  };
  const values = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(values);
    else if (isObject(value)) {
      if (typeof value["$ref"] === "string") found.add(value["$ref"]);
      else if (value["$text"] !== undefined) texts(value["$text"]);
      else if (value["$cel"] !== undefined) cel(value["$cel"]);
      else if (value["$literal"] === undefined) Object.values(value).forEach(values);
    }
  };
  for (const name of setFields) if (typeof step[name] === "string") found.add(`set.${step[name]}`);
  for (const name of ["when", "if", "until", "where"]) if (typeof step[name] === "string") cel(step[name]);
  if (isObject(step["fields"])) Object.values(step["fields"]).forEach(cel);
  if (typeof step["fail"] === "string") texts(step["fail"]);
  if (typeof step["take"] === "string") found.add(step["take"]);
  if (step["map"] !== undefined && isObject(step["keep"]))
    for (const path of Object.values(step["keep"])) found.add(String(path));
  for (const name of ["args", "http", "input", "wait", "undo"]) if (isObject(step[name])) values(step[name]);
  for (const reduction of isObject(step["as"]) ? Object.values(step["as"]) : []) {
    if (isObject(reduction) && isObject(reduction["text"])) texts(reduction["text"]["of"]);
  }
  const asked = [step["judge"], ...Object.values(isObject(step["onRows"]) ? step["onRows"] : {})];
  for (const point of asked) {
    const declared = typeof point === "string" ? points[point] : undefined;
    if (isObject(declared)) texts(declared["question"]);
  }
  return [...found];
}

/** Returns every step of a list with the step that contains it, in program order. */
function stepsWritten(
  list: unknown,
  parent?: Written,
): { readonly step: Written; readonly parent: Written | undefined }[] {
  return (Array.isArray(list) ? (list as Written[]) : []).flatMap((step) => {
    const { then: yes, else: no, do: inner, parallel, onError } = step;
    const lists = [
      yes,
      no,
      inner,
      ...(isObject(parallel) ? Object.values(parallel) : []),
      isObject(onError) ? onError["do"] : [],
    ];
    return [{ step, parent }, ...lists.flatMap((one) => stepsWritten(one, step))];
  });
}

/** Returns the text of the read that a name in the program stands for. */
function expectedRead(
  name: string,
  step: Written,
  parent: Written | undefined,
  isHandled: (id: string) => boolean,
): string {
  const [root = "", first = "", ...rest] = name.split(/\.|(?=\[)/);
  const under = (...path: string[]) => path.join(".").replaceAll(".[", "[");
  switch (root) {
    case "rows":
      return `count ${first}`;
    case "set":
      return `rows ${first}`;
    case "row":
      return `rows ${under(String(setFields.flatMap((field) => [step, parent].flatMap((one) => (typeof one?.[field] === "string" && field !== "with" ? one[field] : [])))[0]), first, ...rest)}`;
    case "calls":
      return `answer ${under(first, ...rest)}`;
    case "output":
      return `undone ${under(String(step["id"]), first, ...rest)}`;
    case "steps":
      return `${rest[0] === "error" && isHandled(first) ? "error" : "value"} ${under(first, ...rest)}`;
    default:
      return `${root} ${under(root, first, ...rest)}`;
  }
}

/** Compares the description of a program with its text. */
function expectWhole(program: Written, { steps, result }: ProgramDescription): void {
  const written = stepsWritten(program["steps"]);
  expect(steps.map(({ id }) => id)).toEqual(written.map(({ step }) => step["id"]));
  const points = isObject(program["points"]) ? program["points"] : {};
  const handled = new Set(written.flatMap(({ step }) => (step["onError"] === undefined ? [] : [step["id"]])));
  for (const [index, { step, parent }] of written.entries()) {
    const described = steps[index]!;
    const reads = described.reads.map(textOf);
    const expected = namesWritten(step, points).map((name) =>
      expectedRead(name, step, parent, (id) => handled.has(id)),
    );
    expect(reads, `reads of ${described.id}`).toEqual(expect.arrayContaining(expected));
    for (const read of described.reads) expectSource(read, described, steps);
  }
  const names = new Set(steps.map(({ id }) => id));
  for (const { reads } of result)
    for (const { what, from } of reads)
      expect(what === "input" || what === "params" ? from === what : names.has(from)).toBe(true);
}

/** Expects that a read names the input, a param, or a step that runs before the reading step, contains it or is inside it. */
function expectSource({ what, from }: ProgramRead, reader: DescribedStep, steps: readonly DescribedStep[]): void {
  if (what === "input" || what === "params") {
    expect(from).toBe(what);
    return;
  }
  const place = steps.findIndex(({ id }) => id === from);
  const isInside = isWithin(steps[place], reader.id, steps);
  const isOwn = from === reader.id && (what === "undone" || what === "count" || what === "error");
  expect(place >= 0 && (place < steps.indexOf(reader) || isInside || isOwn), `${reader.id} reads ${what} ${from}`).toBe(
    true,
  );
}

function isWithin(step: DescribedStep | undefined, id: string, steps: readonly DescribedStep[]): boolean {
  if (step === undefined || step.parentId === "") return false;
  return (
    step.parentId === id ||
    isWithin(
      steps.find((one) => one.id === step.parentId),
      id,
      steps,
    )
  );
}

const examples = fileURLToPath(new URL("../../../../docs/examples", import.meta.url));
const shipped = globSync(["*.json", "standing/*.json"], { cwd: examples }).map((path) => {
  const document = JSON.parse(readFileSync(`${examples}/${path}`, "utf8")) as Written;
  return [path, (isObject(document["program"]) ? document["program"] : document) as Written] as const;
});

test.each(shipped)("every name in %s is a read of the step that uses it", async (_name, program) => {
  if (program["steps"] === undefined) return;
  expectWhole(program, await describe(program));
});

test("every name in a program with every construct, and in the sample program, is a read", async () => {
  for (const program of [everyConstruct(), sampleProgram()] as Written[]) expectWhole(program, await describe(program));
});

/** Makes programs whose steps use names of earlier steps at random places. */
const generated = fc.infiniteStream(fc.nat(1000)).map((stream): Written => {
  const draw = (count: number) => Number(stream.next().value) % count;
  const pick = <T>(list: readonly T[]) => list[draw(list.length)] as T;
  let count = 0;
  type Names = { readonly texts: readonly string[]; readonly sets: readonly string[] };
  const text = ({ texts, sets }: Names) =>
    pick([
      { $ref: pick(texts) },
      { $text: `Hello {${pick(texts)}}, {${pick(texts)}}` },
      { $cel: `${pick(texts)} + string(rows.${pick(sets)})` },
    ]);
  const makeStep = (names: Names, depth: number): { readonly step: Written; readonly left: Names } => {
    const id = `s${count++}`;
    const set = pick(names.sets);
    const kind = draw(depth === 0 ? 6 : 4);
    const inner = () => {
      const first = makeStep(names, depth + 1);
      return [
        first.step,
        makeStep({ texts: [...names.texts, ...first.left.texts], sets: [...names.sets, ...first.left.sets] }, depth + 2)
          .step,
      ];
    };
    switch (kind) {
      case 0:
        return {
          step: { id, filter: set, where: `row.id != ${pick(names.texts)} && rows.${pick(names.sets)} > params.least` },
          left: { texts: [], sets: [id] },
        };
      case 1: {
        const args = { chat_id: { $ref: "input.chat" }, text: text(names) };
        return { step: { id, call: "messaging_bot.send_message", entity: "ops", args }, left: { texts: [], sets: [] } };
      }
      case 2:
        return {
          step: { id, reduce: set, as: { lines: { text: { of: `{row.id} of {${pick(names.texts)}}` } } } },
          left: { texts: [`steps.${id}.lines`], sets: [] },
        };
      case 3: {
        const args = { chat_id: { $ref: "input.chat" }, text: { $text: `{row.id} {${pick(names.texts)}}` } };
        const make = { id: `${id}c`, call: "messaging_bot.send_message", entity: "ops", args };
        return { step: { id, map: set, do: [make] }, left: { texts: [], sets: [id] } };
      }
      case 4:
        return {
          step: ifStep(id, `rows.${set} > 0 && ${pick(names.texts)} != ''`, inner(), inner()),
          left: { texts: [], sets: [] },
        };
      default:
        return { step: { id, parallel: { left: inner(), right: inner() } }, left: { texts: [], sets: [] } };
    }
  };
  let names: Names = { texts: ["input.chat", "params.note"], sets: ["fetch"] };
  const rows = { from: "items[]", keep: ["id"] };
  const fetch = { id: "fetch", call: "calendar.list_events", entity: "ops", args: { calendar_id: "primary" }, rows };
  const steps: Written[] = [fetch];
  for (let length = 1 + draw(8); length > 0; length--) {
    const { step, left } = makeStep(names, 0);
    steps.push(step);
    names = { texts: [...names.texts, ...left.texts], sets: [...names.sets, ...left.sets] };
  }
  return {
    version: 1,
    title: "Generated",
    inputSchema: { type: "object", required: ["chat"], properties: { chat: { type: "string" } } },
    input: { chat: "@team" },
    params: { least: 2, note: "Hello" },
    steps,
    result: { last: { $ref: pick(names.texts) } },
  };
});

test("every name in a generated program is a read, and each read names something that exists by then", async () => {
  await fc.assert(
    fc.asyncProperty(generated, async (program) => {
      const checked = await checkProgram(JSON.stringify(program), context);
      if ("faults" in checked) throw new Error(JSON.stringify([checked.faults, program]));
      expectWhole(program, await describe(program));
    }),
    { numRuns: repeats({ sample: 20, whole: 1_500 }) },
  );
});
