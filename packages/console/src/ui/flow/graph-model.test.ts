import { expect, test } from "vitest";
import { buildGraph, closedAtFirst, type GraphProgram, type GraphRead, type GraphStep } from "./graph-model.ts";

const rows = (from: string, path = ""): GraphRead => ({ what: "rows", from, path });
const value = (from: string, path: string): GraphRead => ({ what: "value", from, path });
const input = (path: string): GraphRead => ({ what: "input", from: "input", path });

/** Makes a step. `place`: the containing step and the branch, such as `gather/sales`. */
function step(id: string, kind: string, place = "", reads: readonly GraphRead[] = []): GraphStep {
  const [parentId = "", branch = ""] = place.split("/");
  return { id, kind, parentId, branch, title: id, tool: "", app: "", reads };
}

function program(steps: readonly GraphStep[], result: readonly GraphRead[] = []): GraphProgram {
  return { key: "key", input: ["chat"], steps, result: result.length === 0 ? [] : [{ name: "all", reads: result }] };
}

/** Returns the edges as texts: `a -> b` with data, `a .. b` without, and `a :: b` if both may be in one column. */
function edgesOf(one: GraphProgram, closed: ReadonlySet<string> = new Set()): string[] {
  const name = (id: string) => id.replace("step:", "");
  return buildGraph(one, closed).edges.map(({ from, to, reads, words, isLoose }) => {
    const line = reads.length > 0 ? "->" : isLoose ? "::" : "..";
    return `${name(from)} ${line} ${name(to)}${words === "" ? "" : ` (${words})`}`;
  });
}

const gather = [
  step("gather", "parallel"),
  step("deals", "call", "gather/sales"),
  step("worth", "reduce", "gather/sales", [rows("deals", "value")]),
  step("tasks", "call", "gather/imports"),
  step("stopped", "filter", "gather/imports", [rows("tasks"), rows("tasks", "enabled")]),
  step("gate", "judge", "", [value("worth", "sum")]),
  step("report", "call", "", [{ what: "count", from: "stopped", path: "" }]),
];

test("an edge leads from the data to its reader, and steps without common data follow each other", () => {
  expect(edgesOf(program(gather, [value("worth", "sum")]))).toEqual([
    ...["deals -> worth", "tasks -> stopped", "worth -> gate", "stopped -> report", "worth -> result"],
    ...["input .. deals", "input .. tasks", "stopped :: gate", "gate :: report", "report :: result"],
  ]);
});

test("an if decides at the start of its box and an until at its end, and a handler has a box of its own", () => {
  const steps = [
    step("choice", "if", "", [input("chat")]),
    step("yes", "call", "choice/then"),
    step("no", "wait", "choice/else"),
    step("poll", "until", "", [value("look", "state")]),
    step("look", "call", "poll/do"),
    step("sorry", "wait", "poll/onError"),
    step("end", "wait"),
  ];
  const { nodes, boxes } = buildGraph(program(steps), new Set());
  expect(nodes.map(({ id, box = "" }) => `${id} ${box}`)).toEqual([
    ...["input ", "step:choice box:choice", "step:yes box:choice", "step:no box:choice"],
    ...["step:look box:poll", "step:poll box:poll", "step:sorry handler:poll", "step:end ", "result "],
  ]);
  expect(boxes.map(({ id, box, handles }) => [id, box, handles])).toEqual([
    ["box:choice", undefined, false],
    ["box:poll", undefined, false],
    ["handler:poll", undefined, true],
  ]);
  expect(edgesOf(program(steps))).toEqual([
    ...["input -> choice", "look -> poll"],
    ...["choice .. yes (then)", "choice .. no (else)", "no .. look", "yes .. look", "poll .. sorry (on error)"],
    ...["poll .. end", "end .. result"],
  ]);
});

test("an if without an else goes on from its condition", () => {
  const steps = [step("choice", "if"), step("yes", "call", "choice/then"), step("end", "wait")];
  expect(edgesOf(program(steps))).toEqual([
    ...["input .. choice", "choice .. yes (then)", "yes .. end", "choice .. end (else)", "end .. result"],
  ]);
});

test("a map is one node with its calls, and a closed block one node with everything inside it", () => {
  const steps = [
    step("fetch", "call"),
    step("each", "map", "", [rows("fetch")]),
    step("send", "call", "each/do", [rows("fetch", "title"), input("chat")]),
    step("edit", "call", "each/do", [{ what: "answer", from: "send", path: "id" }]),
  ];
  expect(edgesOf(program(steps))).toEqual(["fetch -> each", "input -> each", "input .. fetch", "each .. result"]);
  const { nodes, boxes } = buildGraph(program(gather), new Set(["gather"]));
  expect(boxes).toEqual([]);
  expect(nodes.map(({ id, inside }) => `${id} ${inside}`)).toEqual([
    "input 0",
    "step:gather 4",
    "step:gate 0",
    "step:report 0",
    "result 0",
  ]);
  expect(edgesOf(program(gather), new Set(["gather"]))).toEqual([
    ...["gather -> gate", "gather -> report", "input .. gather", "gate :: report", "report .. result"],
  ]);
});

test("the blocks of a program with more than 60 steps are closed at first", () => {
  const more = Array.from({ length: 53 }, (_, index) => step(`s${index}`, "wait"));
  expect(closedAtFirst(program([...gather, ...more]))).toEqual(new Set());
  expect(closedAtFirst(program([...gather, ...more, step("last", "wait")]))).toEqual(new Set(["gather"]));
});
