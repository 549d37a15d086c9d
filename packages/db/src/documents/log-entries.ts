import { type DocumentType, documentType } from "./document.ts";

/** An entry of a job's log before it gets its number in the log. */
export type LogEntry = {
  readonly type: string;
  /** Id of the step that this entry of a job's log is about. Empty if the entry is not about a step. */
  readonly stepId: string;
  /** Payload as JSON text of at most 4 KB. It never contains row data. */
  readonly payload: string;
  /** The keys and contacts that caused the log entry, in order. Absent or null if the entry has the same causes as its job. */
  readonly principalChain?: readonly string[] | null | undefined;
};

/**
 * Reads and writes the column `job_events.following`, which has several log entries of a job. Each entry is one line with tabs between its
 * values, and frequent texts are replaced by one character. If a value already contains such a character, all entries are stored as JSON.
 */
export const logEntriesDocument: DocumentType<readonly LogEntry[]> = documentType(
  "job_events.following",
  [({ p }) => read(String(p)), ({ p }) => read(String(p)), ({ p }) => read(withPhrases(String(p)))],
  write,
);

/**
 * Texts that nearly every entry of a job's log contains, including separators. An entry is stored with numbers in place of these texts.
 * This saves space: two entries of a job with one step take 40 bytes instead of 190. Never change the order or add a phrase. A different
 * list needs a new version of the document.
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

/**
 * All control characters. They can stand for frequent phrases in a stored log entry, because they do not occur in the entry itself. JSON
 * text always escapes them, and names never contain them.
 */
const controls = String.fromCharCode(...Array(32).keys());
/**
 * Control characters that replace frequent phrases in a stored log entry, one character for each phrase (see `phrases`). All control
 * characters are used, except NUL, which PostgreSQL refuses, and the tab and line break, which separate values and lines.
 */
const marks = [...controls].filter((one) => !"\0\t\n".includes(one));
const markOf = new Map(phrases.map((phrase, index) => [phrase, marks[index] ?? phrase]));
const phraseOf = new Map([...markOf].map(([phrase, mark]) => [mark, phrase]));
// The longest phrases come first, because the first phrase that matches is used.
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
