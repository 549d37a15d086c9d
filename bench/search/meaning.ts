import type { Catalog } from "@svc/catalog";
import { type Clock, createAddressGuard, createId, systemClock } from "@svc/core";
import { type Database, openDatabase } from "@svc/db/connect";
import { migrateDatabase } from "@svc/db/migrate";
import { createMeaningFinder, type EmbeddingsObserver, type SearchOutcome, type ToolFinder } from "@svc/tools";
import { Histogram, type LatencySummary } from "../histogram.ts";
import { monotonicMicros } from "../monotonic.ts";
import type { BenchDatabase } from "../postgres.ts";
import { type Recall, recallOf, type SearchCase, type SearchTimes } from "./evaluate.ts";

/** Settings of an embeddings endpoint, as the service has them. An empty `key` means no key. */
export type EmbeddingsSettings = { readonly url: string; readonly model: string; readonly key: string };

/** Duration of searches by meaning. `asked`: each query calls the endpoint. `kept`: the query's vector is in memory already. */
export type MeaningTimes = {
  readonly asked: SearchTimes;
  readonly kept: SearchTimes;
  /** Elapsed time of the endpoint's answers for queries. */
  readonly endpoint: LatencySummary;
  /** Number of queries that used words only, because the endpoint was late or failed. */
  readonly byWords: number;
};

/** Searches by words and meaning, as a node with an embeddings endpoint does. */
export type Meaning = {
  /**
   * Measures the results when every query has its vector, however long that takes. Rejects with the reason if the endpoint returns none.
   */
  recallOf(catalog: Catalog, cases: readonly SearchCase[]): Promise<Recall>;
  /** Returns the queries that get a result with high confidence. */
  findSurely(catalog: Catalog, queries: readonly string[]): Promise<string[]>;
  /**
   * Measures the duration of searches with the time limits of a node: one round for queries that call the endpoint, `rounds` rounds for the
   * others.
   */
  timesOf(catalog: Catalog, cases: readonly SearchCase[], rounds: number): Promise<MeaningTimes>;
  close(): Promise<void>;
};

const projectId = createId("prj", 1);
/** The local network is allowed too, because the user of the benchmark chooses the endpoint. */
const guard = createAddressGuard({
  allowedRanges: ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
});
/** A clock that waits a hundred times as long as a node, because this measures the quality of results, not their speed. */
const patientClock: Clock = { ...systemClock, wait: (ms, signal) => systemClock.wait(ms * 100, signal) };

/** Opens the search over a new database, which stores the vectors of tools. */
export async function openMeaning(settings: EmbeddingsSettings, database: BenchDatabase): Promise<Meaning> {
  await migrateDatabase(database.url);
  const db = openDatabase({ url: database.url });
  const patient = openFinder(settings, db, patientClock);
  const find = (catalog: Catalog) => async (query: string) => {
    const found = await patient.finder.find(projectId, catalog, { query });
    patient.check();
    return found;
  };
  return {
    async recallOf(catalog, cases) {
      await patient.prepare(catalog);
      return recallOf(async (query) => (await find(catalog)(query)).results.map(({ tool }) => tool.slug), cases);
    },
    async findSurely(catalog, queries) {
      await patient.prepare(catalog);
      const finding: string[] = [];
      for (const query of queries) if ((await find(catalog)(query)).confidence === "high") finding.push(query);
      return finding;
    },
    async timesOf(catalog, cases, rounds) {
      await patient.prepare(catalog);
      return measure(openFinder(settings, db, systemClock), { catalog, cases, rounds });
    },
    async close() {
      await patient.finder.close();
      await db.close();
      await database.drop();
    },
  };
}

/** A search with the events that its observer received. */
type OpenFinder = {
  readonly finder: ToolFinder;
  readonly outcomes: SearchOutcome[];
  readonly answers: Histogram;
  /** Gets the vectors of every tool in a catalog. Rejects with the reason if that fails. */
  prepare(catalog: Catalog): Promise<void>;
  /** Throws the error of an earlier failure. */
  check(): void;
};

function openFinder({ url, model, key }: EmbeddingsSettings, db: Database, clock: Clock): OpenFinder {
  const [outcomes, answers] = [[] as SearchOutcome[], new Histogram()];
  let failure: Error | undefined;
  const observer: EmbeddingsObserver = {
    called: ({ what, durationMs }) => what === "search" && answers.record(durationMs * 1_000),
    searched: (outcome) => void outcomes.push(outcome),
    failed: (_what, { message }) => {
      failure ??= new Error(`the embeddings endpoint ${message}`);
    },
  };
  const finder = createMeaningFinder({ db, clock, guard, place: { url, model }, key: async () => key, observer });
  const check = () => {
    if (failure !== undefined) throw failure;
  };
  return {
    ...{ finder, outcomes, answers, check },
    async prepare(catalog) {
      while (!finder.prepare(catalog)) {
        await systemClock.wait(100);
        check();
      }
    },
  };
}

async function measure(
  { finder, prepare, outcomes, answers }: OpenFinder,
  {
    catalog,
    cases,
    rounds,
  }: { readonly catalog: Catalog; readonly cases: readonly SearchCase[]; readonly rounds: number },
): Promise<MeaningTimes> {
  const times = { asked: [new Histogram(), new Histogram()], kept: [new Histogram(), new Histogram()] } as const;
  try {
    await prepare(catalog);
    // This round does not count, because it builds the index.
    for (let round = 0; round <= rounds; round++) {
      for (const { intent } of cases) {
        const [wall, processor] = times[round === 0 ? "asked" : "kept"];
        const [startedAt, usedBefore] = [monotonicMicros(), process.cpuUsage()];
        await finder.find(projectId, catalog, { query: intent });
        const used = process.cpuUsage(usedBefore);
        wall.record(monotonicMicros() - startedAt);
        processor.record(used.user + used.system);
      }
    }
  } finally {
    await finder.close();
  }
  const summaryOf = ([wall, processor]: (typeof times)["asked" | "kept"]): SearchTimes => ({
    wall: wall.summary(),
    processor: processor.summary(),
  });
  return {
    ...{ asked: summaryOf(times.asked), kept: summaryOf(times.kept), endpoint: answers.summary() },
    byWords: outcomes.slice(0, cases.length).filter((outcome) => outcome !== "asked" && outcome !== "kept").length,
  };
}
