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
 * How `job_events.following` is stored: an entry a line, its values between tabs, neither of which JSON text holds; as JSON where a
 * value does all the same.
 */
export const logEntriesDocument: DocumentType<readonly LogEntry[]> = documentType(
  "job_events.following",
  [read, read],
  write,
);

type Packed = readonly [type: string, stepId: string, payload: string, principalChain?: string];

function read({ p: packed }: Readonly<Record<string, unknown>>): readonly LogEntry[] {
  const text = String(packed);
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
  const packed = entries.map(({ type, stepId, payload, principalChain }): Packed => {
    return principalChain ? [type, stepId, payload, JSON.stringify(principalChain)] : [type, stepId, payload];
  });
  const isPlain =
    packed.every((values) => values.every((value = "") => !/[\t\n]/.test(value))) &&
    /^[a-z]/.test(packed[0]?.[0] ?? "");
  return isPlain ? packed.map((values) => values.join("\t")).join("\n") : JSON.stringify(packed);
}
