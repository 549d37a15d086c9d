import { isObject } from "@svc/core";
import { ifStep, testContext, testSkills } from "@svc/testing/programs";
import { repeats } from "@svc/testing/sample";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkProgram } from "./check/program.ts";
import { languageOf, type Step, stepKinds } from "./steps/index.ts";

const context = await testContext();

/** Tools by access class, each with valid arguments. */
const tools = {
  read: { call: "messaging_bot.get_me", entity: "ops" },
  write: { call: "messaging_bot.send_message", entity: "ops", args: { chat_id: "@team", text: "x" } },
  destructive: {
    call: "messaging_bot.delete_message",
    entity: "ops",
    args: { chat_id: "@team", message_id: 1, confirm: true },
  },
};
const classes = Object.keys(tools) as (keyof typeof tools)[];

/**
 * State while a list of random steps is made. `draw`: returns the next random number. `ids`: counts the ids in use. `sets`: sets that exist
 * at this place. `isLast`: true if no step follows that an answer may skip.
 */
type Making = {
  readonly draw: (count: number) => number;
  readonly ids: { count: number };
  readonly sets: string[];
  readonly isLast: boolean;
  /** Kinds of the steps that contain the list. */
  readonly inside: readonly Step["kind"][];
  /** True if the list belongs to an error handler. */
  readonly isHandling: boolean;
};

function makeId({ ids }: Making): string {
  return `s${ids.count++}`;
}

function makeCall(making: Making): object {
  const call = { id: makeId(making), ...tools[classes[making.draw(3)] ?? "read"], retry: { max: making.draw(3) } };
  return { ...call, ...makeWhen(making) };
}

/** Returns a condition for one step in four, and an empty object for the others. */
function makeWhen({ draw }: Making): object {
  return draw(4) === 0 ? { when: "1.0 < 2.0" } : {};
}

function makeRequest(making: Making): object {
  const method = ["GET", "POST", "DELETE"][making.draw(3)];
  const confirm = method === "DELETE" ? { confirm: true } : {};
  const http = { method, url: "https://api.example.com/things" };
  return { id: makeId(making), http, ...confirm, retry: { max: making.draw(3) } };
}

function makeRows(making: Making): object {
  const id = makeId(making);
  const declared = { max: 1 + making.draw(3) };
  const page = making.draw(2) === 0 ? declared : { arg: "page_token", from: "nextPageToken", ...declared };
  making.sets.push(id);
  const rows = { from: "items[]", keep: ["id", "attendees"], ...(making.draw(2) === 0 && { page }) };
  return { id, call: "calendar.list_events", entity: "ops", args: { calendar_id: "primary" }, rows };
}

function makeSet(making: Making, step: object): object {
  const id = makeId(making);
  making.sets.push(id);
  return { id, ...step };
}

function makeRun(making: Making, skills: readonly string[]): object {
  return { id: makeId(making), run: `skills.${skills[making.draw(skills.length)]}`, input: { text: "x" } };
}

/** Makes a step of each kind. Its input is one of the existing sets. */
const makers: Readonly<Record<Step["kind"], (making: Making, set: string) => object>> = {
  call: (making) => (making.draw(2) === 0 ? makeCall(making) : makeRows(making)),
  http: (making) => makeRequest(making),
  filter(making, set) {
    const id = makeId(making);
    making.sets.push(id);
    return { id, filter: set, where: "row.id != ''" };
  },
  map(making, set) {
    const isAsking = making.draw(2) === 0;
    const onRows = isAsking ? { onRows: { failed: "rows" } } : {};
    // Rows are not run again if their skill may write.
    const skills = isAsking ? ["look"] : ["look", "announce", "erase"];
    const make = [makeCall, makeRequest, (one: Making) => makeRun(one, skills)];
    const calls = Array.from({ length: 1 + making.draw(2) }, () =>
      (make[making.draw(make.length)] ?? makeCall)(making),
    );
    const id = makeId(making);
    making.sets.push(id);
    return { id, map: set, ...onRows, do: calls };
  },
  sort: (making, set) => makeSet(making, { sort: set, by: [{ field: "id" }] }),
  limit: (making, set) => makeSet(making, { limit: set, max: 1 + making.draw(20) }),
  distinct: (making, set) => makeSet(making, { distinct: set, by: ["id"] }),
  join(making, set) {
    const other = making.sets[making.draw(making.sets.length)];
    const kind = ["inner", "left", "anti"][making.draw(3)];
    return makeSet(making, { join: set, with: other, on: { id: "id" }, kind });
  },
  group: (making, set) => makeSet(making, { group: set, by: ["id", "attendees"], as: { all: "count" } }),
  compute: (making, set) => makeSet(making, { compute: set, fields: { id: "string(row.id)" } }),
  // The rows of the new set contain no list, so no later step uses the set.
  flatten: (making, set) => ({ id: makeId(making), flatten: set, field: "attendees", keep: { who: "item" } }),
  take: (making) => makeSet(making, { take: "input.list", keep: ["id", "attendees"] }),
  reduce: (making, set) => ({ id: makeId(making), reduce: set, as: { all: "count" } }),
  judge: (making) => ({ id: makeId(making), judge: making.isLast ? "go" : "skip" }),
  if(making) {
    const branches = [0, 1].map(() => makeInner(making, "if", 3));
    return ifStep(makeId(making), "true", branches[0] ?? [], making.draw(2) === 0 ? undefined : branches[1]);
  },
  parallel(making) {
    const names = ["left", "right", "third"].slice(0, 2 + making.draw(2));
    const branches = names.map((name) => [name, makeInner(making, "parallel", 2)]);
    return { id: makeId(making), parallel: Object.fromEntries(branches) };
  },
  until(making) {
    const body = makeInner(making, "until", 2);
    return { id: makeId(making), until: "true", do: body, max: 1 + making.draw(4) };
  },
  wait: (making) => ({ id: makeId(making), wait: "1s" }),
  fail: (making) => ({ id: makeId(making), fail: "Enough", when: "1.0 > 2.0" }),
  run: (making) => makeRun(making, ["look", "announce", "erase", "relay"]),
};

/** Returns an error handler for one step in several, if its kind can have one. */
function makeOnError(making: Making): { readonly onError?: { readonly do: object[]; readonly then: string } } {
  if (making.isHandling || making.draw(3) > 0) return {};
  const steps = makeInner({ ...making, isHandling: true }, "wait", 2);
  // biome-ignore lint/suspicious/noThenProperty: programs have the field, and nobody awaits them.
  return { onError: { do: steps, then: making.draw(2) === 0 ? "continue" : "fail" } };
}

/** Returns a step whose error is handled. Neither other steps nor its error handler can use its set. */
function withOnError({ sets, ...making }: Making, step: { readonly id?: string }): object {
  const others = sets.filter((set) => set !== step.id);
  const { onError } = makeOnError({ ...making, sets: others });
  if (onError?.then === "continue") sets.splice(0, sets.length, ...others);
  return { ...step, ...(onError && { onError }) };
}

/** Makes the inner list of a step. The list contains no step of the same kind, which would be refused. */
function makeInner(making: Making, within: Step["kind"], most: number): object[] {
  const inside = [...making.inside, within];
  const kinds = stepKinds.filter((kind) => {
    const { refusedInItself } = languageOf(kind);
    return refusedInItself === undefined || !inside.includes(kind);
  });
  return makeSteps({ ...making, inside, sets: [...making.sets] }, kinds, most);
}

/** Kinds of steps that an answer to a judge step may skip. */
const skippable: ReadonlySet<string> = new Set(["call", "http", "map", "run", "if", "until", "parallel"]);

/**
 * Makes at most `most` steps. With five steps, branches of three steps and maps of two calls, a program stays below its limit of 100 steps.
 */
function makeSteps(making: Making, kinds: readonly Step["kind"][], most: number): object[] {
  const length = 1 + making.draw(most);
  const drawn = Array.from({ length }, () => kinds[making.draw(kinds.length)] ?? "wait");
  return drawn.map((kind, index) => {
    const set = making.sets[making.draw(Math.max(1, making.sets.length))];
    const here = { ...making, isLast: !skippable.has(drawn[index + 1] ?? "") };
    // As long as no set exists, a call is made that fetches one.
    if (set === undefined) return makeRows(here);
    const step = { ...makers[kind](here, set), ...makeWhen(here) };
    return languageOf(kind).takesOnError === true ? withOnError(here, step) : step;
  });
}

const escalation = [{ principal: "lead" }];
const generated = fc
  .record({ stream: fc.infiniteStream(fc.nat(1000)), rows: fc.integer({ min: 1, max: 50 }) })
  .map(({ stream, rows }) => {
    const draw = (count: number) => Number(stream.next().value) % count;
    const steps = makeSteps(
      { draw, ids: { count: 0 }, sets: [], isLast: false, inside: [], isHandling: false },
      stepKinds,
      5,
    );
    const points = {
      go: { question: "?", continuations: ["proceed", "abort"], escalation },
      skip: { question: "?", continuations: ["proceed", "skip"], escalation },
      rows: { question: "?", continuations: draw(2) === 0 ? ["retry-with", "skip"] : ["skip"], escalation },
    };
    // Questions that no step asks are left out, because such a program is refused.
    const isAsked = ([id]: readonly [string, unknown]) => JSON.stringify(steps).includes(`:"${id}"`);
    return {
      version: 1,
      title: "Generated",
      input: { list: [] },
      limits: { rows, toolCalls: 200 + draw(2000), writes: 100 + draw(1000), asks: 30 },
      steps,
      points: Object.fromEntries(Object.entries(points).filter(isAsked)),
    };
  });

/** The tools as which HTTP requests are counted, by method. */
const requests = { GET: tools.read.call, POST: tools.write.call, DELETE: tools.destructive.call };
/** Returns how many times a call is made for its pages. */
function pagesOf(rows: unknown): number {
  const page = isObject(rows) ? rows["page"] : undefined;
  return isObject(page) ? Number(page["max"]) : 1;
}

/**
 * Returns the maximum number of calls of some tools that the text of a program allows. Of two branches, the one with more calls counts; of
 * rounds, all count. It knows no kinds of steps: it finds every `call` and `http` at any depth. Undo calls do not count.
 */
function callsIn(value: unknown, tools: readonly string[]): number {
  const sum = (values: readonly unknown[]) => values.reduce<number>((total, item) => total + callsIn(item, tools), 0);
  if (Array.isArray(value)) return sum(value);
  if (!isObject(value)) return 0;
  const { call, run, then: yes, else: no, undo: _undo, onError, until, max, ...others } = value;
  const inner = typeof run === "string" ? callsIn(testSkills[run.replace("skills.", "")], tools) : 0;
  const named = isObject(value["http"]) ? requests[value["http"]["method"] as keyof typeof requests] : call;
  const own = inner + (typeof named === "string" && tools.includes(named) ? pagesOf(others["rows"]) : 0);
  const rounds = until === undefined ? 1 : Number(max);
  return (
    own +
    Math.max(callsIn(yes, tools), callsIn(no, tools)) +
    callsIn(onError, tools) +
    rounds * sum(Object.values(others))
  );
}

test("no call of a program slips past its estimate, wherever it stands", { timeout: 900_000 }, async () => {
  const slugs = { ...tools, list: { call: "calendar.list_events" } };
  const all = Object.values(slugs).map(({ call }) => call);
  const writes = [tools.write.call, tools.destructive.call];
  await fc.assert(
    fc.asyncProperty(generated, async (program) => {
      const checked = await checkProgram(JSON.stringify(program), context);
      if ("faults" in checked) throw new Error(JSON.stringify([checked.faults, program]));
      const { estimate } = checked;
      const { toolCalls, writes: writeLimit } = program.limits;
      const { steps } = program;
      const destructive = callsIn(steps, [tools.destructive.call]);
      expect(estimate.callsMax).toBeGreaterThanOrEqual(Math.min(callsIn(steps, all), toolCalls));
      expect(estimate.writesMax).toBeGreaterThanOrEqual(Math.min(callsIn(steps, writes), writeLimit));
      expect(estimate.destructiveMax).toBeGreaterThanOrEqual(Math.min(destructive, writeLimit));
      expect(estimate.accessClasses.includes("destructive")).toBe(destructive > 0);
      expect(estimate.callsMin).toBeLessThanOrEqual(estimate.callsMax);
    }),
    { numRuns: repeats({ sample: 75, whole: 1_500 }) },
  );
});
