import { termOf } from "../search/terms.ts";

/**
 * A part of the text that the site's search shows for a result. `isMatch`: true if the part is a search word, which the page highlights.
 */
export type ExcerptPart = { readonly text: string; readonly isMatch: boolean };

const length = 150;
const lead = 40;

/** Returns the part of a text with the most search words, cut at spaces. `words`: the words by which the text was found. */
export function excerptOf(text: string, words: readonly string[]): readonly ExcerptPart[] {
  const wanted = new Set(words);
  const tokens = [...text.matchAll(/[\p{L}\p{N}_]+/gu)].map((match) => ({ word: match[0], start: match.index }));
  const matches = tokens.filter(({ word }) => wanted.has(termOf(word) ?? ""));
  const countFrom = (start: number) =>
    new Set(matches.filter((one) => one.start >= start && one.start < start + length - lead).map(({ word }) => word))
      .size;
  const best = matches.toSorted((a, b) => countFrom(b.start) - countFrom(a.start) || a.start - b.start)[0];
  const from = cutBefore(text, Math.max(0, (best?.start ?? 0) - lead));
  const to = cutBefore(text, Math.min(text.length, from + length));
  const parts: ExcerptPart[] = from > 0 ? [{ text: "… ", isMatch: false }] : [];
  let at = from;
  for (const { word, start } of matches) {
    if (start < from || start + word.length > to) continue;
    parts.push({ text: text.slice(at, start), isMatch: false }, { text: word, isMatch: true });
    at = start + word.length;
  }
  parts.push({ text: `${text.slice(at, to)}${to < text.length ? " …" : ""}`, isMatch: false });
  return parts;
}

function cutBefore(text: string, place: number): number {
  if (place <= 0 || place >= text.length) return place;
  const space = text.lastIndexOf(" ", place);
  return space < 0 ? place : space + 1;
}
