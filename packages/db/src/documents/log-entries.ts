import { type DocumentType, documentType } from "./document.ts";

/** An entry of a job's log without its number. */
export type LogEntry = {
  readonly type: string;
  /** Empty if it concerns no step. */
  readonly stepId: string;
  /** JSON text of at most 4 KB, never row data. */
  readonly payload: string;
  /** Absent or null if it equals the job's. */
  readonly principalChain?: readonly string[] | null | undefined;
};

/**
 * How `job_events.following` is stored: one entry per line, values separated by tabs (JSON text contains neither), and one character for
 * each of `phrases`. If a value contains such a character, it is stored as JSON.
 */
export const logEntriesDocument: DocumentType<readonly LogEntry[]> = documentType(
  "job_events.following",
  [({ p }) => read(String(p)), ({ p }) => read(String(p)), ({ p }) => read(withPhrases(String(p)))],
  write,
);

/**
 * Texts that nearly every entry contains, including separators: two entries of a one-step job take 40 bytes instead of 190. Never change
 * the order or add a phrase: another list needs another version.
 */
const phrases = [
  'job-status-changed\t\t{"from":"queued","to":"running","reason":"started"}',
  'job-status-changed\t\t{"from":"running","to":"succeeded","reason":"finished"}',
  'job-status-changed\t\t{"from":"',
  '","to":"',
  '","reason":"',
  "step-started\t",
  "step-finished\t",
  "step-progress\t",
  '\t{"kind":"call","attempt":1}',
  '\t{"kind":"',
  '","attempt":',
  '\t{"state":"completed"',
  '\t{"state":"',
  ',"rows":{"in":',
  ',"ok":',
  ',"failed":',
  ',"skipped":',
  ',"unknown":',
];

/** Characters that JSON text and names never contain unescaped. */
const controls = String.fromCharCode(...Array(32).keys());
/** Those that PostgreSQL accepts and that are not separators. */
const marks = [...controls].filter((one) => !"\0\t\n".includes(one));
const markOf = new Map(phrases.map((phrase, index) => [phrase, marks[index] ?? phrase]));
const phraseOf = new Map([...markOf].map(([phrase, mark]) => [mark, phrase]));
// The longest phrases come first, because the first match is taken.
const anyPhrase = new RegExp(
  phrases
    .toSorted((a, b) => b.length - a.length)
    .map((phrase) => phrase.replaceAll("{", "\\{"))
    .join("|"),
  "g",
);
const anyControl = new RegExp(`[${controls}]`);
const anyMark = new RegExp(`[${marks.join("")}]`, "g");

function withPhrases(text: string): string {
  return text.startsWith("[") ? text : text.replace(anyMark, (mark) => phraseOf.get(mark) ?? mark);
}

type PackedEntry = readonly [type: string, stepId: string, payload: string, principalChain?: string];

function read(text: string): readonly LogEntry[] {
  const entries = text.startsWith("[")
    ? (JSON.parse(text) as readonly unknown[][])
    : text.split("\n").map((line) => line.split("\t"));
  return entries.map(([type, stepId, payload, chain]) => ({
    type: String(type),
    stepId: String(stepId),
    payload: String(payload),
    principalChain: chain === undefined ? null : ((typeof chain === "string" ? JSON.parse(chain) : chain) as string[]),
  }));
}

function write(entries: readonly LogEntry[]): string {
  const packed = entries.map(({ type, stepId, payload, principalChain }): PackedEntry => {
    return principalChain ? [type, stepId, payload, JSON.stringify(principalChain)] : [type, stepId, payload];
  });
  const isPlain =
    packed.every((values) => values.every((value = "") => !anyControl.test(value))) &&
    /^[a-z]/.test(packed[0]?.[0] ?? "");
  if (!isPlain) return JSON.stringify(packed);
  const text = packed.map((values) => values.join("\t")).join("\n");
  return text.replace(anyPhrase, (phrase) => markOf.get(phrase) ?? phrase);
}
