import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listFiles, root } from "../source.ts";
import { endingAt, withLostUndos } from "./endings.ts";
import type { Ending, History } from "./history.ts";
import { createLevel, type Level } from "./level.ts";
import { createPresent, migrateStores, type Present } from "./migrate-stores.ts";
import { type Prefix, prefixesOf, replayFrom } from "./replay.ts";

// Lets the engine of today take over from the states that runs of released versions were in, and compares how they end. What
// must be equal is what an outsider can see: what the apps were sent, and status, steps, receipt, log and result as the API
// answers them. Left out is what another run of the same version would have otherwise: times, ids of asks and calls, the number and
// the cut of commits (outcome.ts says which entries and fields that are, and why).

/** `npm test` drives the first state of a run, which is all of it, and one in so many of the others; `npm run test:crash` every one. */
const stride = Number(process.env["SVC_CRASH_ROUNDS"] ?? 0) > 0 ? 1 : 120;

/**
 * Runs that today's version ends in another way on purpose: what it sends that the version did not, and why. From states before that
 * only these requests may be new; from the others the ending is compared as that of any run.
 */
const mended: Readonly<Record<string, { readonly sends: RegExp; readonly why: string }>> = {
  "call-digits": {
    sends: /^desk\.send_note ops POST \/notes \{"text":"(?:9007199254740993|12345678901234567890)"\}$/,
    why: "0.1 took a number of many digits for an object, which no text takes, and failed the row; its digits are written now",
  },
};

/** What is told of a fault since, beside what the version told: which field is absent. */
const toldSince = /(?<= reads a field that is absent): [\w.]+; ask has\([\w.]+\) first/g;

/** Texts that say the same in other words since, each with the words of the version. */
const reworded: readonly (readonly [RegExp, string])[] = [
  [/the app accepts no more calls for now/g, "the app takes no more calls for now"],
  [/(?<= is absent); add else/g, "; say what stands in with else"],
  [/(?<=pages were fetched and )there are more pages/g, "there are more"],
  [/(?<=pages were fetched and )the last page was full/g, "the last of them was full"],
  [/ are stored: request less, or take it as rows/g, " are kept: ask for less, or take it as rows"],
  [/it is not known if it was carried out/g, "whether it was carried out is not known"],
  [
    /the call was sent, but no answer came; the app may have executed it/g,
    "the call was sent and its answer never came; it may have been executed",
  ],
  [
    /(Undoing step \w+) with (\S+) failed (\(\w+\))\. Leave it and continue,/g,
    "$1 by $2 did not work $3. Leave it and go on,",
  ],
];

function asToldBefore<T>(jobs: T): T {
  let text = JSON.stringify(jobs).replaceAll(toldSince, "");
  for (const [since, before] of reworded) text = text.replaceAll(since, before);
  return JSON.parse(text) as T;
}

/**
 * Leaves out what depends on which of several rows ended first: the order of a step's errors, and the sample of an error that several rows
 * had.
 */
function withoutOrder<T>(ending: T): T {
  const sortable = (key: string, value: unknown) => {
    if (key !== "errors" || !Array.isArray(value)) return value;
    const errors = value as { code: string; count: number; firstOrdinal: number; sample: string }[];
    const told = errors.map((error) => (error.count > 1 ? { ...error, sample: "" } : error));
    return told.toSorted((a, b) => a.code.localeCompare(b.code) || a.firstOrdinal - b.firstOrdinal);
  };
  return JSON.parse(JSON.stringify(ending, sortable)) as T;
}

/** A recorded run: all its states, and those that are driven from, with their rows. */
type Recording = {
  readonly name: string;
  readonly history: History;
  states: readonly Omit<Prefix, "store">[];
  prefixes: readonly Prefix[];
};

const versions = Map.groupBy(
  listFiles("test/recorded")
    .filter((path) => /^test\/recorded\/[0-9.]+\/[a-z-]+\.json$/.test(path) && !path.endsWith("/database.json"))
    .map((path): Recording => {
      const history = JSON.parse(readFileSync(join(root, path), "utf8")) as History;
      return { name: path.split("/").at(-1)?.replace(".json", "") ?? "", history, states: [], prefixes: [] };
    }),
  ({ history }) => history.version,
);

describe.each([...versions])("version %s", (_version, recordings) => {
  let level: Level;
  let present: Present;
  let states = 0;
  let driven = 0;

  beforeAll(async () => {
    level = await createLevel(recordings[0]?.history.migration ?? "");
    present = await createPresent(level);
    for (const [offset, recording] of recordings.entries()) {
      const all = prefixesOf(recording.history, level.tables);
      // Their rows, of all of them, are found once: that takes as long as driving from some.
      recording.states = all.map(({ index, entry, isTorn }) => ({ index, entry, isTorn }));
      states += all.length;
      recording.prefixes = sampleOf(all, offset);
    }
    await migrateAll(level, recordings);
  }, 900_000);
  afterAll(async () => {
    process.stdout.write(`driven from ${driven} of ${states} recorded states\n`);
    await present?.drop();
    await level?.drop();
  });

  test.each(recordings)(
    "$name: taken over from any of its states, it ends as it did ($history.shows)",
    { timeout: 600_000 },
    async ({ name, history, prefixes }) => {
      for (const prefix of prefixes) {
        const what = `${name} from entry ${prefix.index}, ${prefix.entry.point} ${prefix.entry.step}`;
        const replayed = replayFrom(history, prefix, present);
        const { refused, jobs, without, beyond } = await replayed.catch((cause: unknown) => {
          throw new Error(what, { cause });
        });
        const isNew = (request: string) => mended[name]?.sends.test(request) === true;
        const strange = refused.filter((request) => !isNew(request));
        expect(strange, what).toEqual([]);
        driven++;
        if (refused.length > 0) continue;
        const ended = { jobs: asToldBefore(jobs), without, beyond };
        const expected = withLostUndos(endingAt(history, prefix.entry), history);
        expect(withoutOrder(ended), what).toMatchObject(withoutOrder(expected));
      }
    },
  );

  test("no state but a torn one has an ending of its own, and that tells why", () => {
    for (const { name, history, states: all } of recordings) {
      expect(all.length).toBeGreaterThan(0);
      for (const { entry, index, isTorn } of all) {
        const what = `${name} from entry ${index}`;
        if (entry.ending !== undefined)
          expect([isTorn, tellsWhy(endingAt(history, entry))], what).toEqual([true, true]);
      }
    }
  });
});

/** The first state of a run and every `stride`-th. `offset`: so that not all runs are looked at in the same places. */
function sampleOf(prefixes: readonly Prefix[], offset: number): readonly Prefix[] {
  return prefixes.filter((_prefix, index) => index === 0 || (index + offset) % stride === 0);
}

/** Runs the migrations since the version over the rows of every state, as many runs together as there are. */
async function migrateAll(level: Level, recordings: readonly Recording[]): Promise<void> {
  const longest = Math.max(...recordings.map(({ prefixes }) => prefixes.length));
  for (let place = 0; place < longest; place++) {
    const batch = recordings.filter(({ prefixes }) => place < prefixes.length);
    const stores = await migrateStores(
      level,
      batch.map(({ prefixes }) => (prefixes[place] as Prefix).store),
    );
    for (const [index, recording] of batch.entries()) {
      const prefix = { ...(recording.prefixes[place] as Prefix), store: stores[index] as Prefix["store"] };
      recording.prefixes = recording.prefixes.with(place, prefix);
    }
  }
}

/** Whether an ending says that a call may have been executed, or that nobody looked any further. */
function tellsWhy({ jobs }: Ending): boolean {
  return jobs.some(({ job, log }) => {
    const { status, receipt } = job as { status: string; receipt: { calls: { unknown: number } } };
    const isTold = log.some((line) => /^call-in-doubt|^compensation-step .*stuck/.test(line));
    return isTold || receipt.calls.unknown > 0 || status === "JOB_STATUS_CANCELLED";
  });
}
