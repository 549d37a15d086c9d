import { timestampMs } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod } from "@connectrpc/connect-query";
import { StatsService, Tone, TraceKind, type TraceNode } from "@svc/gen/stats";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useNow, useSettled } from "../clock.ts";
import { transportFor } from "../session/transport.ts";
import { outcomeWord } from "../words/calls.ts";
import { deliveryWord } from "../words/deliveries.ts";
import { jobStatusOf, jobStatusWord } from "../words/jobs.ts";
import { durationWords, relativeWords } from "../words/time.ts";
import { kindWords, manyWords, pageOfId } from "../words/trace.ts";
import { labelOf } from "../words/word.ts";
import type { Found, PaletteEntry } from "./palette-entries.ts";

/** Pause in milliseconds after the last letter before the service is asked, and the fewest letters for which it is asked. */
const pauseMs = 120;
const lettersMin = 2;
const minuteMs = 60_000;

const nothing: Found = { entries: [], hint: "" };
const searching: Found = { entries: [], hint: "Searching…" };
const failed: Found = { entries: [], hint: "The search of resources failed." };

/**
 * Searches the resources of a project for a text, and gives the palette what the service finds. Draws nothing. A new text cancels the
 * search for the text before.
 */
export default function PaletteSearch({
  text,
  projectId,
  onFound,
}: {
  text: string;
  projectId: string;
  onFound: (found: Found) => void;
}) {
  const asked = useSettled(text, pauseMs);
  const now = useNow(minuteMs);
  const isSearched = text.length >= lettersMin;
  const { data, isError } = useQuery({
    queryKey: ["palette", projectId, asked],
    queryFn: ({ signal }) => findEntries(projectId, asked, { signal, now }),
    enabled: isSearched && asked === text,
    gcTime: 0,
    retry: false,
  });
  const answer = asked === text ? (data ?? (isError ? failed : searching)) : searching;
  const found = isSearched ? answer : nothing;
  useEffect(() => onFound(found), [found, onFound]);
  return null;
}

/**
 * Returns an entry of the palette for each resource that the service finds, in groups by kind, and a hint if more resources may match.
 * `now`: current time in milliseconds.
 */
async function findEntries(
  projectId: string,
  query: string,
  { signal, now }: { signal: AbortSignal; now: number },
): Promise<Found> {
  const transport = transportFor(projectId);
  const { results, partial } = await callUnaryMethod(transport, StatsService.method.search, { query }, { signal });
  const groups = Map.groupBy(results, ({ kind }) => kind);
  const entries = [...groups.values()].flat().flatMap((node) => entryOf(node, projectId, now) ?? []);
  const kinds = partial.map((kind) => kindWords(kind).many).join(", ");
  return { entries, hint: partial.length === 0 ? "" : `More may match: ${kinds}. Type more letters.` };
}

/** Returns the entry of a found resource. Undefined if it has no page. */
function entryOf(node: TraceNode, projectId: string, now: number): PaletteEntry | undefined {
  const { id, kind, title, at } = node;
  const page = pageOf(node, projectId);
  if (page === undefined) return undefined;
  const note = [stateWords(node), at === undefined ? "" : ageWords(timestampMs(at), now)];
  return {
    id,
    words: title,
    note: note.filter((text) => text !== "").join(", "),
    icon: kindWords(kind).icon,
    group: manyWords(kind),
    ...page,
  };
}

function pageOf(
  { id, kind }: TraceNode,
  projectId: string,
): { to: string; params: Record<string, string> } | undefined {
  if (kind === TraceKind.SAVED_TOOL) return { to: "/p/$projectId/skills/$slug", params: { projectId, slug: id } };
  if (kind === TraceKind.PERSON) return { to: "/p/$projectId/contacts", params: { projectId } };
  return pageOfId(id, projectId);
}

function ageWords(at: number, now: number): string {
  // The current time is that of the last full minute.
  return relativeWords(Math.min(at, now), now) ?? `${durationWords(now - at)} ago`;
}

/** Returns the label of a resource's state. Empty if it has none. */
function stateWords({ kind, state, tone }: TraceNode): string {
  const status = kind === TraceKind.JOB ? jobStatusOf(state) : undefined;
  if (status !== undefined) return labelOf(jobStatusWord(status));
  if (kind === TraceKind.CALL) return labelOf(outcomeWord(state));
  // Only a delivery that was tried and waits for its next attempt has this tone.
  if (kind === TraceKind.DELIVERY) return labelOf(deliveryWord({ state, attempts: tone === Tone.WARN ? 1 : 0 }));
  return state.slice(0, 1).toUpperCase() + state.slice(1).replaceAll("_", " ");
}
