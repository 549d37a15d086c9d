import { fileURLToPath } from "node:url";
import { type Catalog, loadCatalog } from "@svc/catalog";
import { createToolSearch } from "@svc/tools";
import type { BenchCase, CaseReport } from "../case.ts";
import type { LatencySummary } from "../histogram.ts";
import { checkCases } from "../search/check-cases.ts";
import { withDistractors } from "../search/distractors.ts";
import { type Miss, type Recall, recallOf, type SearchCase, timesOf } from "../search/evaluate.ts";
import intents from "../search/intents.json" with { type: "json" };
import { spreadOf } from "../statistics.ts";

const toolkitsFolder = fileURLToPath(new URL("../../toolkits", import.meta.url));
/** The tool whose parts that no search reads stand in every made-up one. */
const modelSlug = "calendar.create_event";

type Measured = {
  readonly tools: number;
  readonly tune: Recall;
  readonly heldOut: Recall;
  readonly times: LatencySummary;
};

/** How often the right tool is found by intents that are in no definition, and how fast. */
export const search: BenchCase = {
  name: "search",
  about: `the right tool found by ${intents.length} intents, among 610 tools and among 10,000`,
  run: async ({ settings, progress }) => {
    const catalog = await loadCatalog({ folders: [toolkitsFolder] });
    checkCases(intents, catalog.tools);
    const model = catalog.tools.get(modelSlug);
    if (model?.kind !== "action") throw new Error(`no action ${modelSlug}`);
    const measured = [catalog, withDistractors(catalog, model)].map((searched) => {
      progress(`searching ${callableCount(searched)} tools`);
      return measure(searched, settings.rounds ?? 5);
    });
    return report(measured, settings.verbose);
  },
};

/** The cases take turns in the two halves, so both have the same toolkits. */
function halvesOf(cases: readonly SearchCase[]): { tune: SearchCase[]; heldOut: SearchCase[] } {
  return {
    tune: cases.filter((_, index) => index % 2 === 0),
    heldOut: cases.filter((_, index) => index % 2 === 1),
  };
}

function measure(catalog: Catalog, rounds: number): Measured {
  const toolSearch = createToolSearch(catalog);
  const { tune, heldOut } = halvesOf(intents);
  return {
    tools: callableCount(catalog),
    tune: recallOf(toolSearch, tune),
    heldOut: recallOf(toolSearch, heldOut),
    times: timesOf(toolSearch, intents, rounds),
  };
}

function callableCount({ tools }: Catalog): number {
  return [...tools.values()].filter(({ callable }) => callable).length;
}

function report(measured: readonly Measured[], isVerbose: boolean): CaseReport {
  const [small, large] = measured;
  if (small === undefined || large === undefined) throw new Error("nothing was measured");
  const bothHalves = (share: (recall: Recall) => number) => (share(small.tune) + share(small.heldOut)) / 2;
  return {
    columns: ["tools", "half", "recall@1", "recall@5", "p50", "p99", "max"],
    rows: measured.flatMap(({ tools, tune, heldOut, times }) => [
      [String(tools), "tune", ...recallCells(tune), ...timeCells(times)],
      [String(tools), "held out", ...recallCells(heldOut)],
    ]),
    figures: [
      {
        name: `recall@1 of ${small.tools}`,
        value: spreadOf([bothHalves(({ at1 }) => at1)]),
        unit: "",
        aim: { atLeast: 0.8 },
      },
      {
        name: `recall@5 of ${small.tools}`,
        value: spreadOf([bothHalves(({ at5 }) => at5)]),
        unit: "",
        aim: { atLeast: 0.95 },
      },
      { name: `p99 of ${large.tools}`, value: spreadOf([large.times.p99]), unit: "ms", aim: { below: 5 } },
    ],
    notes: [
      `${intents.length} intents of bench/search/intents.json; none is in a definition, and most accept one tool`,
      "every second intent is held out: weights were chosen on the others, but the last rules were kept with both in view",
      "one author wrote intents and vocabulary: words of other people are found less often",
      "the made-up tools do common things (create, find, share) with the things of 94 other kinds of app",
      "times are those of one search in a process that does nothing else, after a first pass over all intents",
      ...(isVerbose ? [...small.tune.misses, ...small.heldOut.misses].map(formatMiss) : ["--verbose lists the misses"]),
    ],
  };
}

function recallCells({ at1, at5 }: Recall): string[] {
  return [at1, at5].map((share) => share.toFixed(3));
}

function timeCells({ p50, p99, max }: LatencySummary): string[] {
  return [p50, p99, max].map((ms) => `${ms.toFixed(2)} ms`);
}

function formatMiss({ searched, rank, found }: Miss): string {
  const place = rank === 0 ? "not found" : `place ${rank}`;
  return `"${searched.intent}": ${searched.accepts.join(" or ")} ${place}; first ${found.slice(0, 3).join(", ") || "nothing"}`;
}
