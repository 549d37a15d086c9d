import type { AskedUser } from "./confirmation.ts";

/** What a tool answers: text for a model, the same as data for a program. */
export type ToolAnswer = {
  readonly texts: readonly string[];
  readonly structured: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** What the client's user is to be asked first. */
  readonly askUser?: AskedUser | undefined;
};

/** An answer as the protocol has it. */
export function toolResult({ texts, structured, isError }: ToolAnswer): Readonly<Record<string, unknown>> {
  return { content: texts.map((text) => ({ type: "text", text })), structuredContent: structured, isError };
}

/** An answer that is no error. */
export function answered<Data extends Readonly<Record<string, unknown>>>(
  structured: Data,
  ...texts: readonly string[]
): ToolAnswer & { readonly structured: Data } {
  return { texts, structured, isError: false };
}

/** The first sentence of a description on one line, at most `lengthMax` characters. */
export function firstSentence(description: string, lengthMax: number): string {
  const line = description.replace(/\s+/g, " ").trim();
  const [sentence = line] = /^.*?[.!?](?= [A-Z]|$)/.exec(line) ?? [];
  return cutText(sentence, lengthMax);
}

/** A text of at most `lengthMax` characters; three dots mark a cut. */
export function cutText(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 3).toWellFormed()}...` : text;
}
