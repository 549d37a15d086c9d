import vocabulary from "./vocabulary.json" with { type: "json" };
import { isTelling, wordsOf } from "./words.ts";

/** A text with what a tool is called with taken out of it: ids, numbers, times, quoted and dictated text. */
export type SplitQuery = {
  readonly request: string;
  readonly data: string;
  /** True if some of the data is quoted or dictated text. */
  readonly hasText: boolean;
};

const times: ReadonlySet<string> = new Set([...vocabulary.times, ...vocabulary.currencies]);
const quoted =
  /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‹[^›]*›|`[^`]*`|(?<=^|[\s(:=])['‘][^'’]+['’](?=$|[\s).,;:!?])|\{[^{}]*[:"][^{}]*\}/gu;
/** A run of signs with a digit, such as `MOB-412`, `10:30` or `$25`. */
const idLike = /\S*\p{N}\S*/gu;
/** A name of a tool, such as `create_task_v1`, begins with a verb, and no part of it is digits alone. */
const nameLike = /^([a-z]+)(?:_[a-z]+\d*)*_[a-z]+\d*$/;
const verbs: ReadonlySet<string> = new Set(Object.values(vocabulary.verbClasses).flat());
/** What follows is the text or the name that a tool is to write; `called off` names nothing. */
const dictating =
  /(?::\s|\s(?:saying|called(?!\s(?:off|on|out|up|in|by|back|for|away)\b)|named|titled|namens|llamad[oa]|appelée?|intitulée?)\s)/iu;
const naming = /^\s(?:called|named|titled|namens|llamad[oa]|appelée?|intitulée?)/iu;
/** The last word of what names an app, as in `task app: add a section`: what follows says what is wanted of it. */
const apps: ReadonlySet<string> = new Set(vocabulary.apps);
/** A name in capitals, before which a verb of naming stands: what follows it in small letters says more of what is wanted. */
const dictatedName =
  /^\s*(?:\p{Lu}[\p{L}\p{N}'’&-]*|\p{N}+)(?:\s(?:(?:of|and|the|for|&|de|la|und|der)\s)?(?:\p{Lu}[\p{L}\p{N}'’&-]*|\p{N}+))*(?=[,;]?\s+\p{Ll})/u;
/** Telling words that stand before a dictated text at the least: else it is what says what is wanted. */
const tellingWordsMin = 2;
/** Words that name an app at most. */
const addressMax = 4;

/**
 * Parts a query into what says what is wanted and the data in it. A query of data alone is taken as it is. One that `isAddressed` to a marked name
 * may dictate after its verb.
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

/** True if a word says when, or how much money. */
export function isTime(word: string): boolean {
  return times.has(word);
}
