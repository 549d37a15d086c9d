import vocabulary from "./vocabulary.json" with { type: "json" };
import { isTelling, wordsOf } from "./words.ts";

/** A query text, split into the request and the data for the tool. Data are ids, numbers, times, and quoted or dictated text. */
export type SplitQuery = {
  readonly request: string;
  readonly data: string;
  /** True if the data contains a quoted or dictated text. False if it contains only ids, numbers and times. */
  readonly hasText: boolean;
};

const times: ReadonlySet<string> = new Set([...vocabulary.times, ...vocabulary.currencies]);
const quoted =
  /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‹[^›]*›|`[^`]*`|(?<=^|[\s(:=])['‘][^'’]+['’](?=$|[\s).,;:!?])|\{[^{}]*[:"][^{}]*\}/gu;
/** Pattern for a word without spaces that includes a digit, such as `MOB-412`, `10:30` or `$25`. It is tried only where a word begins. */
const idLike = /(?<!\S)\S*\p{N}\S*/gu;
/** Pattern for the name of a tool, such as `create_task_v1`. It starts with a verb, and each of its parts has letters. */
const nameLike = /^([a-z]+)(?:_[a-z]+\d*)*_[a-z]+\d*$/;
const verbs: ReadonlySet<string> = new Set(Object.values(vocabulary.verbClasses).flat());
/** Pattern for words that introduce a text or name for the tool, such as `saying` or `called`. `called off` is not such a word. */
const dictating =
  /(?::\s|\s(?:saying|called(?!\s(?:off|on|out|up|in|by|back|for|away)\b)|named|titled|namens|llamad[oa]|appelée?|intitulée?)\s)/iu;
const naming = /^\s(?:called|named|titled|namens|llamad[oa]|appelée?|intitulée?)/iu;
/** Words that can end the name of an app, such as `app` in `task app: add a section`. */
const apps: ReadonlySet<string> = new Set(vocabulary.apps);
/**
 * Pattern for a name in capitals after a word such as `named` (for example `Sales Team` in `a board named Sales Team`). The match ends
 * before lower-case words, because those belong to the request.
 */
const dictatedName =
  /^\s*(?:\p{Lu}[\p{L}\p{N}'’&-]*|\p{N}+)(?:\s(?:(?:of|and|the|for|&|de|la|und|der)\s)?(?:\p{Lu}[\p{L}\p{N}'’&-]*|\p{N}+))*(?=[,;]?\s+\p{Ll})/u;
/**
 * Minimum number of meaningful words before a dictated text (such as the words after `saying`). With fewer words, the dictated text counts
 * as part of the request.
 */
const tellingWordsMin = 2;
/**
 * Maximum number of words before a colon that can be the name of an app to which the user speaks. Example: in `task app: add a section`,
 * `task app` is the app's name and the rest is the request.
 */
const addressMax = 4;

/**
 * Splits a search query into the request and the data for the tool, such as ids, numbers and texts to write. `isAddressed`: true if the
 * query contains a name such as `@petra` or `#sales`.
 */
export function partText(text: string, isAddressed: boolean): SplitQuery {
  const data: string[] = [];
  const takeOut = (part: string) => {
    data.push(part);
    return " ";
  };
  const unquoted = text.replaceAll(quoted, takeOut);
  const isQuoting = data.length > 0;
  const plain = unquoted.replaceAll(idLike, (part) =>
    verbs.has(nameLike.exec(part)?.[1] ?? "") ? part : takeOut(part),
  );
  const { request, dictated } = partDictated(plain, isAddressed ? 1 : tellingWordsMin);
  if (!wordsOf(request).some(isTelling)) return { request: text, data: "", hasText: false };
  return { request, data: [...data, dictated].join(" "), hasText: isQuoting || dictated !== "" };
}

function partDictated(text: string, least: number): { readonly request: string; readonly dictated: string } {
  const found = dictating.exec(text);
  const request = found === null ? "" : text.slice(0, found.index);
  const before = wordsOf(request);
  const isAddress = found?.[0].startsWith(":") && before.length <= addressMax && apps.has(before.at(-1) ?? "");
  if (found === null || isAddress || before.filter(isTelling).length < least) return { request: text, dictated: "" };
  const rest = text.slice(found.index + found[0].length);
  const [name] = (naming.test(found[0]) ? dictatedName.exec(rest) : null) ?? [rest];
  return { request: `${request} ${rest.slice(name.length)}`, dictated: name };
}

/** True if a word is in the list `times`. The list has words for times and for currencies. */
export function isTime(word: string): boolean {
  return times.has(word);
}
