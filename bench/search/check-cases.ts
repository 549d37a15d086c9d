import type { Tool } from "@svc/catalog";
import type { SearchCase } from "./evaluate.ts";

/** Throws if a case copies the text of a definition, or accepts a tool that no search lists, because its result would then mean nothing. */
export function checkCases(cases: readonly SearchCase[], tools: ReadonlyMap<string, Tool>): void {
  const phrases = [...tools.values()].flatMap((tool) => [...tool.intents, ...sentencesOf(tool.description)].map(plain));
  const seen = new Set<string>();
  const faults = cases.flatMap(({ intent, accepts }) => {
    const text = plain(intent);
    const copied = phrases.find((phrase) => phrase !== "" && (text === phrase || ` ${text} `.includes(` ${phrase} `)));
    const unknown = accepts.filter((slug) => tools.get(slug)?.callable !== true);
    const isRepeated = seen.has(text);
    seen.add(text);
    return [
      ...(copied === undefined ? [] : [`"${intent}" copies a definition: "${copied}"`]),
      ...(isRepeated ? [`"${intent}" stands twice`] : []),
      ...unknown.map((slug) => `"${intent}" accepts ${slug}, which no search lists`),
    ];
  });
  if (faults.length > 0) throw new Error(`bench/search/intents.json: ${faults.join("; ")}`);
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.;:])\s+/);
}

function plain(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");
}
