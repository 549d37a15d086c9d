import { fileURLToPath } from "node:url";
import { type Catalog, loadCatalog } from "@svc/catalog";
import { createToolSearch } from "@svc/tools";
import type { BenchCase, CaseReport } from "../case.ts";
import type { LatencySummary } from "../histogram.ts";
import { plainBm25 } from "../search/bm25.ts";
import { checkCases } from "../search/check-cases.ts";
import { withDistractors } from "../search/distractors.ts";
import {
  finderOf,
  type Miss,
  type Recall,
  recallOf,
  type SearchCase,
  type SearchTimes,
  timesOf,
} from "../search/evaluate.ts";
import everyday from "../search/everyday.json" with { type: "json" };
import intents from "../search/intents.json" with { type: "json" };
import { type Meaning, type MeaningTimes, openMeaning } from "../search/meaning.ts";
import nonsense from "../search/nonsense.json" with { type: "json" };
import { type PublicSet, readPublicSets } from "../search/public-sets.ts";
import sloppy from "../search/sloppy.json" with { type: "json" };
import { spreadOf } from "../statistics.ts";

const toolkitsFolder = fileURLToPath(new URL("../../toolkits", import.meta.url));
/** The tool from which every made-up tool copies the parts that a search does not read. */
const modelSlug = "calendar.create_event";

/** A set of queries, with the results of svc and of plain BM25 (a textbook text ranking). */
type Compared = {
  readonly name: string;
  readonly tools: number;
  readonly cases: readonly SearchCase[];
  readonly found: Recall;
  readonly plain: Recall;
  /** Results by words and meaning. Undefined if no endpoint for embeddings is given. */
  readonly meant: Recall | undefined;
};

/** Measurements with a large catalog. */
type Large = {
  readonly tools: number;
  readonly found: Recall;
  /** Number of queries that list a made-up tool. */
  readonly contested: number;
  readonly times: SearchTimes;
  readonly meant: { readonly found: Recall; readonly times: MeaningTimes } | undefined;
};

/** How often a search finds the right tool for texts that are in no definition, compared with plain BM25, and how fast it is. */
export const search: BenchCase = {
  name: "search",
  about: `the right tool found by ${intents.length + everyday.length + sloppy.length} intents, among 610 tools and among 10,000`,
  run: async ({ settings, postgres, progress }) => {
    const catalog = await loadCatalog({ folders: [toolkitsFolder] });
    for (const cases of [intents, everyday, sloppy]) checkCases(cases, catalog.tools);
    const [action, toolkit] = [catalog.tools.get(modelSlug), catalog.toolkits.get("calendar")];
    if (action?.kind !== "action" || toolkit === undefined) throw new Error(`no action ${modelSlug}`);
    const { setsFolder, rounds = 5, verbose } = settings;
    const sets: readonly PublicSet[] = [
      { name: "own", catalog, cases: intents },
      { name: "everyday", catalog, cases: everyday },
      { name: "sloppy", catalog, cases: sloppy },
      ...(setsFolder === undefined ? [] : await readPublicSets(setsFolder, { toolkit, action })),
    ];
    const { embeddings } = settings;
    const meaning = embeddings && (await openMeaning(embeddings, await postgres.createDatabase("bench_search")));
    try {
      const compared: Compared[] = [];
      for (const set of sets) {
        progress(`searching for ${set.name}`);
        compared.push(await compare(set, meaning));
      }
      progress("searching 10,000 tools");
      const large = await measureLarge(catalog, withDistractors(catalog, action), { rounds, meaning });
      const toolSearch = createToolSearch(catalog);
      const senseless = nonsense.filter((query) => toolSearch.search({ query }).confidence === "high");
      const senselessMeant = (await meaning?.findSurely(catalog, nonsense)) ?? [];
      return report(compared, { large, senseless, senselessMeant, isVerbose: verbose });
    } finally {
      await meaning?.close();
    }
  },
};

async function compare({ name, catalog, cases }: PublicSet, meaning: Meaning | undefined): Promise<Compared> {
  return {
    ...{ name, tools: callableCount(catalog), cases },
    found: await recallOf(finderOf(createToolSearch(catalog)), cases),
    plain: await recallOf(plainBm25(catalog), cases),
    meant: await meaning?.recallOf(catalog, cases),
  };
}

async function measureLarge(
  own: Catalog,
  catalog: Catalog,
  { rounds, meaning }: { readonly rounds: number; readonly meaning: Meaning | undefined },
): Promise<Large> {
  const toolSearch = createToolSearch(catalog);
  const find = finderOf(toolSearch);
  return {
    tools: callableCount(catalog),
    found: await recallOf(find, intents),
    contested: intents.filter(({ intent }) => find(intent).some((slug) => !own.tools.has(slug))).length,
    times: timesOf(toolSearch, intents, rounds),
    meant: meaning && {
      found: await meaning.recallOf(catalog, intents),
      times: await meaning.timesOf(catalog, intents, rounds),
    },
  };
}

function callableCount({ tools }: Catalog): number {
  return [...tools.values()].filter(({ callable }) => callable).length;
}

/** Aims of each set: the share found in first place, and among the first five. */
const aims: Readonly<Record<string, { readonly at1?: number; readonly at5: number }>> = {
  own: { at1: 0.8, at5: 0.95 },
  everyday: { at1: 0.75, at5: 0.95 },
  sloppy: { at1: 0.75, at5: 0.95 },
  "LiveMCPBench steps": { at5: 0.8 },
  MetaTool: { at5: 0.75 },
};

type Rest = {
  readonly large: Large;
  /** Meaningless texts that get an answer with high confidence, by words and by meaning. */
  readonly senseless: readonly string[];
  readonly senselessMeant: readonly string[];
  readonly isVerbose: boolean;
};

function report(compared: readonly Compared[], { large, senseless, senselessMeant, isVerbose }: Rest): CaseReport {
  const { wall, processor } = large.times;
  const rowOf = (name: string, asked: number, of: Pick<Compared, "tools" | "found" | "meant"> & { plain?: Recall }) => [
    ...[name, String(asked), String(of.tools)],
    ...[of.found, of.plain].flatMap(formatRecall),
    ...(large.meant === undefined ? [] : formatRecall(of.meant)),
  ];
  return {
    columns: [
      ...["set", "intents", "tools", "svc @1", "svc @5", "BM25 @1", "BM25 @5"],
      ...(large.meant === undefined ? [] : ["with meaning @1", "with meaning @5"]),
    ],
    rows: [
      ...compared.map((set) => rowOf(set.name, set.cases.length, set)),
      rowOf("own", intents.length, { ...large, meant: large.meant?.found }),
    ],
    figures: [
      ...compared.flatMap(({ name, found }) => figuresOf(name, found)),
      { name: `p99 of ${large.tools}, processor`, value: spreadOf([processor.p99]), unit: "ms", aim: { below: 5 } },
      {
        name: `high confidence among ${nonsense.length} texts without sense`,
        value: spreadOf([senseless.length]),
        unit: "",
        aim: { below: 1 },
      },
      ...(large.meant === undefined ? [] : figuresByMeaning(compared, { large, senselessMeant })),
    ],
    notes: [
      "own: bench/search/intents.json, by the author of the engine; everyday: bench/search/everyday.json, by an author who knew neither definitions nor engine",
      "sloppy: bench/search/sloppy.json, with ids, names, dates, typos and other languages, written before the second hand of sayings by that hand",
      "everyday was looked at while weights were chosen; sayings were written before",
      "the texts without sense were looked at while the levels of confidence were chosen: knowledge, verse, keys at random, other languages, programs, small talk",
      "LiveMCPBench: the steps of tasks with as many steps as tools; MetaTool: every tenth query; neither has sayings, and their data is not kept here (--sets)",
      "BM25: k1 1.2, b 0.75, over slug, description, intents and arguments",
      `the made-up tools do common things (create, find, share) with the things of 94 other kinds of app; ${large.contested} of ${intents.length} intents find some of them`,
      `a search of ${large.tools} tools, in a process that does nothing else, after a first pass over all intents: time of the processor ${formatTimes(processor)}; on the clock, with the other work of the machine, ${formatTimes(wall)}`,
      ...(large.meant === undefined ? [] : notesByMeaning(large.tools, large.meant.times)),
      ...(isVerbose
        ? [...compared.flatMap(({ found }) => found.misses.map(formatMiss)), ...senseless]
        : ["--verbose lists the misses"]),
    ],
  };
}

function figuresOf(name: string, found: Recall, how = ""): CaseReport["figures"] {
  const aim = aims[name];
  const shares = { 1: aim?.at1 === undefined ? undefined : [found.at1, aim.at1], 5: aim && [found.at5, aim.at5] };
  const recalls = Object.entries(shares).flatMap(([last, share]) => {
    const [value = 0, atLeast = 0] = share ?? [];
    return share === undefined
      ? []
      : [{ name: `recall@${last} of ${name}${how}`, value: spreadOf([value]), unit: "", aim: { atLeast } }];
  });
  const empty = {
    ...{ name: `share of ${name} that finds nothing${how}`, value: spreadOf([found.empty]), unit: "" },
    aim: { below: 0.01 },
  };
  return aim?.at1 === undefined ? recalls : [...recalls, empty];
}

/** Returns the figures for search by meaning, which have the same aims. */
function figuresByMeaning(
  compared: readonly Compared[],
  { large, senselessMeant }: Pick<Rest, "large" | "senselessMeant">,
): CaseReport["figures"] {
  const { kept } = large.meant?.times ?? {};
  return [
    ...compared.flatMap(({ name, meant }) => (meant === undefined ? [] : figuresOf(name, meant, " with meaning"))),
    ...(kept === undefined
      ? []
      : [
          {
            name: `p99 of ${large.tools} with meaning, processor`,
            value: spreadOf([kept.processor.p99]),
            unit: "ms",
            aim: { below: 5 },
          },
        ]),
    {
      name: `high confidence among ${nonsense.length} texts without sense, with meaning`,
      value: spreadOf([senselessMeant.length]),
      unit: "",
      aim: { below: 1 },
    },
  ];
}

function notesByMeaning(tools: number, { asked, kept, endpoint, byWords }: MeaningTimes): string[] {
  return [
    "with meaning: by words and the endpoint of --embeddings, however long that takes for a query; the times are those of a node, which waits 300 ms",
    `a search of ${tools} tools that asks the endpoint: on the clock ${formatTimes(asked.wall)}, of which the endpoint ${formatTimes(endpoint)}; ${byWords} of ${intents.length} went by words alone, since it was late or failed`,
    `one whose vector is in memory: time of the processor ${formatTimes(kept.processor)}; on the clock ${formatTimes(kept.wall)}`,
  ];
}

function formatRecall(recall: Recall | undefined): string[] {
  return recall === undefined ? ["", ""] : [recall.at1, recall.at5].map(formatShare);
}

function formatShare(share: number): string {
  return share.toFixed(3);
}

function formatTimes({ p50, p99, max }: LatencySummary): string {
  return `p50 ${formatMs(p50)}, p99 ${formatMs(p99)}, at most ${formatMs(max)}`;
}

function formatMs(ms: number): string {
  return `${ms.toFixed(2)} ms`;
}

function formatMiss({ searched, rank, found }: Miss): string {
  const place = rank === 0 ? "not found" : `place ${rank}`;
  return `"${searched.intent}": ${searched.accepts.join(" or ")} ${place}; first ${found.slice(0, 3).join(", ") || "nothing"}`;
}
