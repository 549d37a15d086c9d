import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BenchCase, BenchContext, CaseReport, Figure } from "../case.ts";
import { startChild } from "../child.ts";
import type { LatencySummary } from "../histogram.ts";
import { readMemoryMb, readPeakMb, resetPeak } from "../jobs/memory.ts";
import { deliveringJobServer } from "../jobs/setting.ts";
import { callSteadily, postSteadily } from "../jobs/steady.ts";
import { type LoopFigures, loopCells, loopColumns } from "../loops.ts";
import { warmUpSeconds, withSystem } from "../measure.ts";
import { monotonicMicros } from "../monotonic.ts";
import type { providerCommands } from "../provider.ts";
import { latencyCells, latencyColumns } from "../report.ts";
import { benchAdminToken, callServer } from "../server.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";

const ratePerSecond = 200;

/** What the importing project does in a span: nothing, or one import after another, with the document at an address or in the request. */
type Way = "alone" | "beside imports of an address" | "beside imports of a text";
const ways: readonly Way[] = ["alone", "beside imports of an address", "beside imports of a text"];

/** Latencies of one kind of request of the other project, round by round. */
type Span = { readonly latencies: LatencySummary[]; loops: readonly LoopFigures[] };
/** The imports that were made beside the requests. `seconds`: duration of each. `memoryMb`: memory that the process took in addition. */
type Imports = { readonly seconds: number[]; readonly memoryMb: number[]; operations: string };
type Result = { readonly posts: Map<Way, Span>; readonly calls: Map<Way, Span>; readonly imports: Map<Way, Imports> };

/** Measures if the posts and calls of a project become slower while another project imports a large OpenAPI document. */
export const importBeside: BenchCase = {
  name: "import",
  about:
    "p99 of a project's posts and calls while another project imports an OpenAPI document of 13 MB again and again",
  run: async (ctx) => {
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    const document = largeDocument();
    const source = createServer((_, res) => void res.setHeader("content-type", "application/json").end(document));
    source.listen(0, "127.0.0.1");
    await once(source, "listening");
    try {
      const origin = `http://127.0.0.1:${await provider.ask("port", null)}`;
      const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/openapi.json`;
      const variant = deliveringJobServer(ctx.settings, origin, {
        environment: { SVC_WEBHOOK_AUDIENCE: "projects" },
      });
      const result = await withSystem(ctx, variant, { post: "order" }, (system) =>
        takeTurns(ctx, system, { url, document }),
      );
      return report(result, document.length);
    } finally {
      source.close();
      await provider.stop();
    }
  },
};

type Source = { readonly url: string; readonly document: string };

async function takeTurns(ctx: BenchContext, system: System, { url, document }: Source): Promise<Result> {
  const { rounds = 3, seconds = 20 } = ctx.settings;
  const key = await addProject(system);
  const result: Result = { posts: new Map(), calls: new Map(), imports: new Map() };
  await timeRequests(ctx, system, warmUpSeconds);
  for (let round = 1; round <= rounds; round += 1) {
    for (const way of ways) {
      ctx.progress(`round ${round} of ${rounds}: ${way}`);
      if (way === "alone") {
        addSpans(result, way, await timeRequests(ctx, system, seconds));
        continue;
      }
      const openapi = way === "beside imports of a text" ? { document } : { url };
      const found = await whileImporting(system, { openapi, key }, () => timeRequests(ctx, system, seconds));
      addSpans(result, way, found.value);
      const imports = result.imports.get(way) ?? { seconds: [], memoryMb: [], operations: "" };
      imports.seconds.push(...found.seconds);
      imports.memoryMb.push(found.memoryMb);
      imports.operations = found.operations;
      result.imports.set(way, imports);
    }
  }
  return result;
}

/** Creates the project that imports. Returns its key. */
async function addProject({ port }: System): Promise<string> {
  const admin = (call: string, message: object) => callServer(port, `AdminService/${call}`, message, benchAdminToken);
  const { project } = (await admin("CreateProject", { name: "importing" })) as { project: { id: string } };
  const asked = { projectId: project.id, role: "ROLE_APPROVER", name: "bench" };
  return ((await admin("CreateApiKey", asked)) as { key: string }).key;
}

type Timed = Record<"posts" | "calls", { readonly latency: LatencySummary; readonly loops: readonly LoopFigures[] }>;

async function timeRequests(ctx: BenchContext, system: System, seconds: number): Promise<Timed> {
  const posts = await postSteadily(ctx, system, { post: "order", ratePerSecond, seconds });
  const calls = await callSteadily(ctx, system, { ratePerSecond, seconds });
  return { posts: { latency: posts.answers, loops: posts.loops }, calls };
}

function addSpans(result: Result, way: Way, timed: Timed): void {
  for (const kind of ["posts", "calls"] as const) {
    const span = result[kind].get(way) ?? { latencies: [], loops: [] };
    span.latencies.push(timed[kind].latency);
    span.loops = timed[kind].loops;
    result[kind].set(way, span);
  }
}

type Importing = { readonly openapi: { readonly url?: string; readonly document?: string }; readonly key: string };

/** Makes one import after another while `use` runs. Throws if one is refused. */
async function whileImporting<T>(system: System, { openapi, key }: Importing, use: () => Promise<T>) {
  const seconds: number[] = [];
  let operations = "";
  let isOver = false;
  const before = readMemoryMb(system.pid);
  resetPeak(system.pid);
  const importAll = async () => {
    while (!isOver || seconds.length === 0) {
      const startedAt = monotonicMicros();
      const request = { openapi, slug: "warehouse", replace: true };
      const { report: made } = (await callServer(
        system.port,
        "CatalogService/ImportToolkit",
        request,
        key,
      )) as Imported;
      seconds.push((monotonicMicros() - startedAt) / 1e6);
      const { readTools = 0, writeTools = 0, destructiveTools = 0 } = made;
      operations = `${readTools + writeTools + destructiveTools} of ${made.operations}`;
    }
  };
  const [value] = await Promise.all([use().finally(() => (isOver = true)), importAll()]);
  return { value, seconds, operations, memoryMb: readPeakMb(system.pid) - before };
}

type Imported = {
  readonly report: { operations: number; readTools?: number; writeTools?: number; destructiveTools?: number };
};

function report({ posts, calls, imports }: Result, bytes: number): CaseReport {
  const spans = Object.entries({ "post to 202": posts, "CallTool, a read": calls });
  const rows = spans.flatMap(([name, found]) =>
    [...found].map(([way, { latencies, loops }]) => {
      const last = latencies.at(-1);
      const made = imports.get(way);
      return [
        `${name}, ${way}`,
        ...(last === undefined ? [] : latencyCells(last)),
        ...loopCells(loops),
        made === undefined ? "-" : String(made.seconds.length),
        made?.operations ?? "-",
      ];
    }),
  );
  return {
    columns: ["span", ...latencyColumns, ...loopColumns, "imports", "operations imported"],
    rows,
    figures: [...spans.flatMap(([name, found]) => ratiosOf(name, found)), ...[...imports].flatMap(importFigures)],
    notes: [
      `a generated document of ${(bytes / 1e6).toFixed(1)} MB; the import is made, checked and stored each time`,
      `open loop: ${ratePerSecond} posts, or calls, a second of one project, each timed from the moment it was due; the other project makes one import after another`,
      "percentiles and loops are those of the last round; an import is timed from the request to the answer, next to the posts and calls",
      "memory: the most that the process held while it imported, less what it held before",
    ],
  };
}

/** Returns the p99 beside imports, divided by the p99 of the same round without them. */
function ratiosOf(name: string, found: ReadonlyMap<Way, Span>): Figure[] {
  const alone = found.get("alone")?.latencies ?? [];
  return [...found]
    .filter(([way]) => way !== "alone")
    .map(([way, { latencies }]) => ({
      name: `${name}, p99: ${way} / alone`,
      value: spreadOf(latencies.map(({ p99 }, round) => p99 / (alone[round]?.p99 ?? Number.NaN))),
      unit: "",
      aim: { below: 1.5 },
    }));
}

function importFigures([way, { seconds, memoryMb }]: [Way, Imports]): Figure[] {
  const what = way.replace("beside imports", "import");
  return [
    { name: `${what}, answered in`, value: spreadOf(seconds), unit: "s", aim: { below: 2 } },
    { name: `${what}, memory`, value: spreadOf(memoryMb), unit: "MB", aim: { below: 200 } },
  ];
}

/** Number of resources of the app. Each has four operations: list, create, read and delete. */
const resourceCount = 306;
/** Every so many operations, one is deprecated, which an import leaves out. */
const deprecatedEvery = 33;
/** Length in characters of the example of one response. The examples make up most of a large document. */
const exampleLength = 9_900;
const fieldCount = 9;

type Schema = Readonly<Record<string, unknown>>;

/**
 * Returns an OpenAPI document of an invented app, as JSON text. It has the size and the shape of the largest documents that are public: 13 MB,
 * 1,224 operations, and schemas that refer to each other.
 */
function largeDocument(): string {
  const resources = Array.from({ length: resourceCount }, (_, number) => number);
  return JSON.stringify({
    openapi: "3.0.3",
    info: { title: "Bench Warehouse", version: "1.0.0", description: "Everything that is stored in a warehouse." },
    servers: [{ url: "https://warehouse.example.com/v1" }],
    security: [{ token: [] }],
    paths: Object.fromEntries(resources.flatMap(pathsOf)),
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: Object.fromEntries(resources.map((number) => [`Thing${number}`, schemaOf(number)])),
    },
  });
}

function pathsOf(number: number): [path: string, item: Schema][] {
  const thing = { $ref: `#/components/schemas/Thing${number}` };
  const list = {
    type: "object",
    properties: { data: { type: "array", items: thing }, next_cursor: { type: "string" } },
  };
  const id = {
    name: "id",
    in: "path",
    required: true,
    description: "Number of the thing.",
    schema: { type: "string" },
  };
  const cursor = { name: "cursor", in: "query", description: "Where the page begins.", schema: { type: "string" } };
  const body = { required: true, content: { "application/json": { schema: thing } } };
  const at = number * 4;
  return [
    [
      `/shelves/things_${number}`,
      {
        get: operation(at, `list_things_${number}`, { parameters: [cursor], responses: responseOf(list) }),
        post: operation(at + 1, `create_thing_${number}`, { requestBody: body, responses: responseOf(thing) }),
      },
    ],
    [
      `/shelves/things_${number}/{id}`,
      {
        get: operation(at + 2, `get_thing_${number}`, { parameters: [id], responses: responseOf(thing) }),
        delete: operation(at + 3, `delete_thing_${number}`, { parameters: [id], responses: responseOf(thing) }),
      },
    ],
  ];
}

function operation(at: number, operationId: string, parts: Schema): Schema {
  const summary = `Does what ${operationId.replaceAll("_", " ")} says, for one shelf of the warehouse.`;
  return { operationId, summary, deprecated: at % deprecatedEvery === 0, ...parts };
}

function responseOf(schema: Schema): Schema {
  const example = { note: "one of the things on the shelf ".repeat(exampleLength / 31) };
  return { 200: { description: "The answer.", content: { "application/json": { schema, example } } } };
}

/** Returns the schema of a resource, which refers to the next one, and the last one to the first. */
function schemaOf(number: number): Schema {
  const fields = Array.from({ length: fieldCount }, (_, field): [string, Schema] => [
    `field_${field}`,
    {
      type: field % 3 === 0 ? "integer" : "string",
      description: `Field ${field} of the thing, as the clerk wrote it.`,
    },
  ]);
  const next = { $ref: `#/components/schemas/Thing${(number + 1) % resourceCount}` };
  const part = { type: "object", properties: { thing: next } };
  return { type: "object", required: ["field_1"], properties: { ...Object.fromEntries(fields), part } };
}
