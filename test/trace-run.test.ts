import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { root } from "./source.ts";

// Tests the tracing of a run on a small checkout with the same top folders as the real one, in a process that records like the service.

type Way = {
  readonly stations: readonly { readonly file: string; readonly functions: readonly string[] }[];
  readonly visits: readonly { readonly file: string; readonly visits: number }[];
  readonly entries: number;
  readonly files: number;
  readonly returns: number;
};

const scripts = pathToFileURL(join(root, "scripts/")).href;
const { wayOf, wayText }: { wayOf(functions: unknown, entries: unknown): Way; wayText(way: Way): string } =
  await import(`${scripts}trace/stations.mjs`);
const run = promisify(execFile);
const jobsFolder = "packages/jobs/src";

const worker = `
import { setImmediate } from "node:timers/promises";
import { work } from "../work.ts";
export class Worker {
  async do(jobId: string): Promise<void> {
    await this.#drive({ task: { jobId } });
    this.idle();
  }
  idle(): void {}
  async #drive(held: { readonly task: { readonly jobId: string } }): Promise<void> {
    await setImmediate();
    await work(held.task.jobId);
  }
}
`;

const engine = `
import { work } from "../work.ts";
export async function moveSettled(_context: object, _tx: object, jobId: string): Promise<void> {
  await work(jobId);
}
`;

/** Runs `main` in a checkout of `files`, and resolves to the recorded way of each job. */
async function record(files: Readonly<Record<string, string>>, main: string): Promise<Readonly<Record<string, Way>>> {
  const checkout = await realpath(await mkdtemp(join(tmpdir(), "svc-trace-test-")));
  onTestFinished(() => rm(checkout, { recursive: true }));
  const roots = { [`${jobsFolder}/engine/worker.ts`]: worker, [`${jobsFolder}/engine/engine.ts`]: engine };
  for (const [file, text] of Object.entries({ ...roots, ...files, "main.ts": main })) {
    await mkdir(dirname(join(checkout, file)), { recursive: true });
    await writeFile(join(checkout, file), text);
  }
  const preload = new URL(`${scripts}trace/record.mjs`);
  preload.searchParams.set("checkout", checkout);
  preload.searchParams.set("to", join(checkout, "trace.json"));
  await run(process.execPath, ["--import", preload.href, join(checkout, "main.ts")]);
  const { functions, jobs } = JSON.parse(await readFile(join(checkout, "trace.json"), "utf8"));
  return Object.fromEntries(Object.entries(jobs).map(([id, entries]) => [id, wayOf(functions, entries)]));
}

/** Runs `work` of a file once, as job_1, and resolves to its recorded way. */
async function recordWork(work: string, files: Readonly<Record<string, string>> = {}): Promise<Way> {
  const main = `import { Worker } from "./${jobsFolder}/engine/worker.ts"; await new Worker().do("job_1");`;
  const { job_1: way } = await record({ [`${jobsFolder}/work.ts`]: work, ...files }, main);
  if (way === undefined) throw new Error("job_1 was not recorded");
  return way;
}

test("every kind of function is recorded as it is entered, and goes on as it would", async () => {
  const way = await recordWork(`
    type Text = string;
    function* numbers(): Generator<number> { yield 1; yield 2; }
    async function* later(): AsyncGenerator<number> { yield* numbers(); }
    const double = (n: number): number => n * 2;
    const pair = (n: number) => ({ n });
    const curried = (a: number) => (b: number) => a + b;
    class Base { readonly base: Text = "base"; }
    class Sample extends Base {
      static made = 0;
      #value = 0;
      readonly field = (n: number): number => this.#value + n;
      constructor(readonly: number) { super(); this.#value = readonly; }
      static create(n: number): Sample { Sample.made++; return new Sample(n); }
      get value(): number { return this.#value; }
      set value(n: number) { this.#value = n; }
      method(): number { return this.#secret(); }
      #secret(): number { return arguments.length + this.#value; }
      async *[Symbol.asyncIterator](): AsyncGenerator<number> { yield this.#value; }
    }
    const object = { plain() { return 1; }, arrow: () => 2, get got() { return 3; } };
    function withDefault(give = () => 4): number { return give(); }
    export async function work(_jobId: string): Promise<void> {
      const seen: unknown[] = [];
      for await (const n of later()) seen.push(n);
      seen.push(double(2), pair(3).n, curried(1)(2));
      const sample = Sample.create(5);
      sample.value = 6;
      seen.push(sample.value, sample.method(), sample.field(1), sample.base);
      for await (const n of sample) seen.push(n);
      seen.push(object.plain(), object.arrow(), object.got, withDefault());
      seen.push(await (async () => "closure")());
      const named = function inner() { return "inner"; };
      seen.push(named());
      if (seen.join() !== "1,2,4,3,3,6,6,7,base,6,1,2,3,4,closure,inner") throw new Error(seen.join());
    }
  `);
  expect(way.stations).toEqual([
    { file: `${jobsFolder}/engine/worker.ts`, functions: ["Worker.#drive"] },
    {
      file: `${jobsFolder}/work.ts`,
      functions: [
        "work",
        "later",
        "numbers",
        "double",
        "pair",
        "curried",
        "curried/closure",
        "Sample.create",
        "new Sample",
        "set Sample.value",
        "get Sample.value",
        "Sample.method",
        "Sample.#secret",
        "Sample.field",
        "Sample.[Symbol.asyncIterator]",
        "plain",
        "arrow",
        "get got",
        "withDefault",
        "withDefault/give",
        "work/closure",
        "work/inner",
      ],
    },
  ]);
});

test("two files that call each other in turn are returned to, and coming back from a call is none", async () => {
  const way = await recordWork(
    `import { other } from "./other.ts";
     const own = () => {};
     export async function work(): Promise<void> {
       for (const n of [1, 2, 3]) { await other(n); own(); own(); }
       other(4); other(5);
     }`,
    { [`${jobsFolder}/other.ts`]: "export function other(_n: number): void {}" },
  );
  const [driver, work, other] = ["engine/worker.ts", "work.ts", "other.ts"].map((name) => `${jobsFolder}/${name}`);
  expect(way.stations.map(({ file }) => file)).toEqual([driver, work, other, work, other, work, other, work, other]);
  expect(way).toMatchObject({ entries: 13, files: 3, returns: 6 });
  expect(way.visits).toEqual([
    { file: other, visits: 4 },
    { file: work, visits: 4 },
    { file: driver, visits: 1 },
  ]);
  const lines = wayText(way).trimEnd().split("\n");
  expect(lines[1]).toMatch(/^2 {2}packages\/jobs\/src\/work\.ts +work$/);
  expect(lines.at(-1)).toBe("9 stations in 3 files, 6 of them returns");
});

test("a callback written in the call of an array method counts as a loop does, what it calls counts", async () => {
  const other = { [`${jobsFolder}/other.ts`]: "export const other = (n: number): number => n;" };
  const head = `import { other } from "./other.ts"; export async function work(): Promise<void> {`;
  const loop = await recordWork(`${head} for (const n of [1, 2]) other(n); }`, other);
  const mapped = await recordWork(`${head} [1, 2].map((n) => other(n)); Array.from([], () => other(0)); }`, other);
  expect(mapped.stations).toEqual(loop.stations);
  const named = await recordWork(`${head} const each = (n: number) => other(n); [1, 2].map(each); }`, other);
  expect(named.returns).toBe(loop.returns + 2);
});

test("an entry belongs to the job whose driver or answer brought it about, however they interleave", async () => {
  const work = `
    import { setImmediate } from "node:timers/promises";
    const before = (_id: string) => {};
    const after = (_id: string) => {};
    const started = () => {};
    export async function work(id: string): Promise<void> {
      before(id);
      await setImmediate();
      queueMicrotask(() => started());
      await new Promise((resolve) => setTimeout(resolve, 0));
      after(id);
    }`;
  const main = `
    import { moveSettled } from "./${jobsFolder}/engine/engine.ts";
    import { Worker } from "./${jobsFolder}/engine/worker.ts";
    import { work } from "./${jobsFolder}/work.ts";
    const worker = new Worker();
    await Promise.all([worker.do("job_1"), worker.do("job_2"), moveSettled({}, {}, "job_3"), work("none")]);
    await moveSettled({}, {}, "job_1");`;
  const ways = await record({ [`${jobsFolder}/work.ts`]: work }, main);
  const station = { file: `${jobsFolder}/work.ts`, functions: ["work", "before", "work/closure", "started", "after"] };
  const driven = { file: `${jobsFolder}/engine/worker.ts`, functions: ["Worker.#drive"] };
  const answered = { file: `${jobsFolder}/engine/engine.ts`, functions: ["moveSettled"] };
  expect(Object.fromEntries(Object.entries(ways).map(([id, { stations }]) => [id, stations]))).toEqual({
    job_1: [driven, station, answered, station],
    job_2: [driven, station],
    job_3: [answered, station],
  });
});

test("a root may be an arrow, with a block or without", async () => {
  const main = `
    import { moveSettled } from "./${jobsFolder}/engine/engine.ts";
    if ((await moveSettled({}, {}, "job_1")) !== "done") throw new Error("its value is lost");`;
  const work = 'export async function work(_id: string): Promise<string> { return "done"; }';
  for (const body of ["work(jobId)", "{ return work(jobId); }"]) {
    const text = `
      import { work } from "../work.ts";
      export const moveSettled = async (_context: object, _tx: object, jobId: string) => ${body};`;
    const { job_1: way } = await record(
      { [`${jobsFolder}/work.ts`]: work, [`${jobsFolder}/engine/engine.ts`]: text },
      main,
    );
    expect(way?.stations.flatMap(({ functions }) => functions)).toEqual(["moveSettled", "work"]);
  }
});

test("the packages of jobs, their programs and their asks count, others and what only tests use do not", async () => {
  const way = await recordWork(
    `import { low } from "../../db/src/low.ts";
     import { ask } from "../../asks/src/ask.ts";
     import { read } from "../../program/src/read.ts";
     import { forTests } from "./test-work.ts";
     export async function work(): Promise<void> { low(); forTests(); ask(); read(); }`,
    {
      "packages/asks/src/ask.ts": "export function ask(): void {}",
      "packages/program/src/read.ts": "export function read(): void {}",
      "packages/db/src/low.ts": "export function low(): void {}",
      [`${jobsFolder}/test-work.ts`]: "export function forTests(): void {}",
    },
  );
  const places = way.stations.map(({ file }) => file.replace(/^packages\//, ""));
  expect(places).toEqual(["jobs/src/engine/worker.ts", "jobs/src/work.ts", "asks/src/ask.ts", "program/src/read.ts"]);
});

test("a checkout without the roots of a layout is refused, and so is a root that is no function", async () => {
  const main = "await import('./packages/jobs/src/engine/worker.ts');";
  const path = `${jobsFolder}/engine/worker.ts`;
  await expect(record({ [path]: "export class Worker {}" }, main)).rejects.toThrow(/like no row of .*layouts\.mjs/);
  await expect(record({ [path]: "// #drive is gone" }, main)).rejects.toThrow(/0 functions Worker\.#drive/);
});

test("its help shows how it is called, and a wrong call ends with status 2", async () => {
  const script = join(root, "scripts/trace-run.mjs");
  const { stdout } = await run(process.execPath, [script, "--help"]);
  expect(stdout).toContain("node scripts/trace-run.mjs docs/examples/count-deals.json");
  for (const wrong of [[], ["a", "b"], ["--unknown"]]) {
    await expect(run(process.execPath, [script, ...wrong])).rejects.toMatchObject({ code: 2, stdout: "" });
  }
});
