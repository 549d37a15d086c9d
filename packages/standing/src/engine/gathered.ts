import type { StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { readSeenKeys } from "@svc/db/standing/dedupe";
import { readStandingWindows, type WindowKey } from "@svc/db/standing/windows";
import type { BookFacts } from "../decide/book-facts.ts";
import { keyOf } from "../decide/given.ts";
import { givenOfOccurrence } from "../decide/occurrence.ts";
import { type Candidate, candidatesOf, type ProgramDue } from "./due.ts";

/** What a book is told of keys: those that were seen, and windows that are open. */
export type Gathered = Pick<BookFacts, "seenKeys" | "windows">;

/** Reads, of the keys that what is due has, which were seen and which have a window. */
export async function readGathered(
  tx: Executor,
  dues: readonly ProgramDue[],
): Promise<(id: StandingProgramId) => Gathered> {
  const keys = dues.flatMap((due) =>
    candidatesOf(due).map((candidate) => ({ programId: due.program.id, ...keysOf(candidate) })),
  );
  const seen = distinct(
    keys.flatMap(({ programId, dedupe }) => (dedupe === undefined ? [] : [{ programId, lane: dedupe }])),
  );
  const collecting = distinct(
    keys.flatMap(({ programId, collect }) => (collect === undefined ? [] : [{ programId, lane: collect }])),
  );
  const seenKeys = await readSeenKeys(
    tx,
    seen.map(({ programId, lane: key }) => ({ programId, key })),
  );
  const windows = Map.groupBy(await readStandingWindows(tx, collecting), ({ programId }) => programId);
  const seenOf = Map.groupBy(seenKeys, ({ programId }) => programId);
  return (id) => ({
    seenKeys: new Map((seenOf.get(id) ?? []).map(({ key, until }) => [key, until])),
    windows: windows.get(id) ?? [],
  });
}

function keysOf({ occurrence, version }: Candidate): { dedupe?: string; collect?: string } {
  const { dedupe, collect } = version.definition;
  if (occurrence.kind === "hand" || (dedupe === undefined && collect === undefined)) return {};
  const given = givenOfOccurrence(occurrence, version);
  const seen = dedupe && keyOf(dedupe.key, given);
  const window = collect && occurrence.event && keyOf(collect.key, given);
  return {
    ...(seen !== undefined && "text" in seen && { dedupe: seen.text }),
    ...(window !== undefined && "text" in window && { collect: window.text }),
  };
}

function distinct(keys: readonly WindowKey[]): WindowKey[] {
  return [...new Map(keys.map((key) => [`${key.programId} ${key.lane}`, key])).values()];
}
