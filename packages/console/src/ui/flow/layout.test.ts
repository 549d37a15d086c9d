import fc from "fast-check";
import { expect, test } from "vitest";
import { buildGraph, closedAtFirst, type GraphProgram, type GraphRead, type GraphStep } from "./graph-model.ts";
import { type GraphRect, layoutGraph } from "./layout.ts";

const blocks = ["parallel", "if", "until"];

/** Makes programs with nested blocks, whose steps read data of earlier steps. */
const programs = fc.infiniteStream(fc.nat(1_000)).map((stream): GraphProgram => {
  const draw = (count: number) => Number(stream.next().value) % count;
  const steps: GraphStep[] = [];
  const readable = ["fetch"];
  const read = (): GraphRead =>
    draw(4) === 0
      ? { what: "input", from: "input", path: "chat" }
      : { what: "rows", from: readable[draw(readable.length)] ?? "fetch", path: "" };
  const add = (kind: string, parentId: string, branch: string, depth: number): void => {
    const id = steps.length === 0 ? "fetch" : `s${steps.length}`;
    const reads = Array.from({ length: steps.length === 0 ? 0 : draw(3) }, read);
    steps.push({ id, kind, parentId, branch, title: id, tool: "", app: "", reads });
    const branches =
      kind === "parallel" ? ["left", "right"] : kind === "if" ? ["then", "else"] : kind === "until" ? ["do"] : [];
    for (const name of branches)
      for (let count = 1 + draw(3); count > 0; count--)
        add(depth < 2 && draw(5) === 0 ? (blocks[draw(3)] ?? "call") : "call", id, name, depth + 1);
    if (branches.length === 0) readable.push(id);
  };
  for (let count = 2 + draw(8); count > 0; count--)
    add(steps.length > 0 && draw(4) === 0 ? (blocks[draw(3)] ?? "call") : "call", "", "", 0);
  return { key: "key", input: [], steps, result: [{ name: "all", reads: [read()] }] };
});

function overlap(a: GraphRect, b: GraphRect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

test("no node covers another or a foreign box, each is in its own box, and nothing runs to the left", () => {
  fc.assert(
    fc.property(programs, (program) => {
      const model = buildGraph(program, new Set());
      const { nodes, boxes, width, height } = layoutGraph(model);
      const whole = { x: 0, y: 0, width, height };
      const parts = [...model.nodes, ...model.boxes];
      const rectOf = (id: string) => nodes.get(id) ?? boxes.get(id)!;
      const isInside = (id: string, box: string): boolean => {
        const around = parts.find((part) => part.id === id)?.box;
        return around === box || (around !== undefined && isInside(around, box));
      };
      for (const [index, part] of parts.entries()) {
        const rect = rectOf(part.id);
        const home = part.box === undefined ? whole : rectOf(part.box);
        expect(rect.x >= home.x && rect.y >= home.y && rect.x + rect.width <= home.x + home.width).toBe(true);
        expect(rect.y + rect.height).toBeLessThanOrEqual(home.y + home.height);
        for (const other of parts.slice(index + 1)) {
          if (isInside(part.id, other.id) || isInside(other.id, part.id)) continue;
          expect(overlap(rect, rectOf(other.id)), `${part.id} covers ${other.id}`).toBe(false);
        }
      }
      for (const { from, to, isLoose } of model.edges) {
        const [start, end] = [rectOf(from), rectOf(to)];
        if (isLoose) expect(end.x).toBeGreaterThanOrEqual(start.x);
        else expect(end.x).toBeGreaterThan(start.x + start.width);
      }
    }),
    { numRuns: 25 },
  );
});

test("the same program has the same places, whatever graph was placed before", () => {
  const [one, other] = fc.sample(programs, { numRuns: 2, seed: 7 }) as [GraphProgram, GraphProgram];
  const first = layoutGraph(buildGraph(one, new Set()));
  layoutGraph(buildGraph(other, new Set()));
  const again = layoutGraph(buildGraph(one, new Set()));
  expect([...again.nodes]).toEqual([...first.nodes]);
  expect([...again.boxes]).toEqual([...first.boxes]);
});

test("a program of 100 steps is placed with closed blocks", () => {
  const block = (index: number): GraphStep[] => {
    const shared = { title: "", tool: "", app: "", reads: [] };
    const inner = Array.from({ length: 9 }, (_, place) => ({
      ...{ id: `s${index}_${place}`, kind: "call", parentId: `p${index}`, branch: place < 5 ? "left" : "right" },
      ...shared,
    }));
    return [{ id: `p${index}`, kind: "parallel", parentId: "", branch: "", ...shared }, ...inner];
  };
  const program = {
    key: "key",
    input: [],
    steps: Array.from({ length: 10 }, (_, index) => block(index)).flat(),
    result: [],
  };
  const { nodes, boxes } = layoutGraph(buildGraph(program, closedAtFirst(program)));
  expect([nodes.size, boxes.size]).toEqual([12, 0]);
  expect(layoutGraph(buildGraph(program, new Set())).nodes.size).toBe(92);
});
