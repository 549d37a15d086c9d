import { readFileSync } from "node:fs";

/**
 * Returns the questions of example-questions.txt by the address of the section that answers them. In the file, a line `@ address` begins the
 * questions of a section, and each further line is a question.
 */
export function readExampleQuestions(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(new URL("example-questions.txt", import.meta.url), "utf8");
  const parts = text.split(/^@ /m).slice(1);
  return new Map(
    parts.map((part) => {
      const [address = "", ...questions] = part.trim().split("\n");
      return [address, questions] as const;
    }),
  );
}
