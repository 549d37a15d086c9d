import type { StandingProgramId } from "@svc/core";
import { type Executor, readSeenKeys, readStandingWindows, type StandingProgramRecord, type WindowKey } from "@svc/db";
import type { BookFacts } from "../decide/book.ts";
import { givenOf, keyOf } from "../decide/given.ts";
import type { Candidate } from "./due.ts";

/** What a book is told of keys: those that were seen, and windows that are open. */
export type Gathered = Pick<BookFacts, "seenKeys" | "windows">;

/** Reads, of the keys that what is due has, which were seen and which have a window. */
export async function readGathered(
  tx: Executor,
  due: readonly Pick<StandingProgramRecord, "id">[],
  dueOf: (id: StandingProgramId) => readonly Candidate[],
): Promise<(id: StandingProgramId) => Gathered> {
  const keys = due.flatMap(({ id }) => dueOf(id).map((candidate) => ({ programId: id, ...keysOf(candidate) })));
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
  const windows = await readStandingWindows(tx, collecting);
  return (id) => ({
    seenKeys: new Map(seenKeys.flatMap(({ programId, key, until }) => (programId === id ? [[key, until]] : []))),
    windows: windows.filter(({ programId }) => programId === id),
  });
}

function keysOf({ occurrence, version: { definition } }: Candidate): { dedupe?: string; collect?: string } {
  const { dedupe, collect, timeZone } = definition;
  if (occurrence.kind === "hand" || (dedupe === undefined && collect === undefined)) return {};
  const given = givenOf({ ...occurrence, previousAt: occurrence.previousAt ?? null }, timeZone);
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
