import { type DocumentType, documentType } from "./document.ts";

/** An entry of a job's log before it has its place there. */
export type LogEntry = {
  readonly type: string;
  /** Empty where it is about no step. */
  readonly stepId: string;
  /** JSON text of at most 4 KB, never row data. */
  readonly payload: string;
  /** Absent or null where it is the job's own. */
  readonly principalChain?: readonly string[] | null | undefined;
};

/**
 * How `job_events.following` is stored: an entry a line, its values between tabs, neither of which JSON text holds, and a character in
 * place of each of `phrases`; as JSON where a value holds such a character all the same.
 */
export const logEntriesDocument: DocumentType<readonly LogEntry[]> = documentType(
  "job_events.following",
  [({ p }) => read(String(p)), ({ p }) => read(String(p)), ({ p }) => read(withPhrases(String(p)))],
  write,
);

/**
 * What nearly every entry says, as it stands between its values: two entries of a job of one step take 40 bytes, not 190. The order never
 * changes, and no phrase is added: another list is another version.
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

/** Characters that neither JSON text nor a name holds as they are. */
const controls = String.fromCharCode(...Array(32).keys());
/** Those that the store takes, and that part no values. */
const marks = [...controls].filter((one) => !"\0\t\n".includes(one));
const markOf = new Map(phrases.map((phrase, index) => [phrase, marks[index] ?? phrase]));
const phraseOf = new Map([...markOf].map(([phrase, mark]) => [mark, phrase]));
// The first that fits is taken: the longest ones stand first.
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
