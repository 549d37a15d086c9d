/** How kinds of values are named to people. */
const kindWords: Readonly<Record<string, string>> = {
  null_type: "null",
  string: "a text",
  double: "a number (double)",
  int: "a whole number (int)",
  uint: "a whole number (uint)",
  bool: "true or false",
  list: "a list",
  map: "an object",
  "google.protobuf.Timestamp": "a timestamp",
  "google.protobuf.Duration": "a duration",
};

/** What is meant most often where values of two kinds meet, whichever stands first. */
const cures: readonly (readonly [one: string, other: string, cure: string])[] = [
  ["a number (double)", "a whole number (int)", "numbers of rows, inputs and answers are doubles: write 100.0 for 100"],
  ["a text", "a timestamp", 'make a time of the text: timestamp(text), of a date timestamp(text + "T00:00:00Z")'],
  ["a text", "a duration", 'make a time of the text: timestamp(text), of a date timestamp(text + "T00:00:00Z")'],
  ["a text", "a number (double)", "make a text of the number, string(number), or a number of the text, double(text)"],
  [
    "a text",
    "a whole number (int)",
    "make a text of the number, string(number), or a number of the text, double(text)",
  ],
];

/** What an operation was given that takes no such values, from the evaluator's message: kinds alone, no value. Empty where it does not tell. */
export function overloadWords(message: string): string {
  const [, name = "", applied] = /overload for '([^']+)' applied to '(.*)'/s.exec(message) ?? [];
  const [, receiver = "", listed] = /^([^(]*)\((.*)\)$/s.exec(applied ?? "") ?? [];
  if (listed === undefined) return "";
  const types = [receiver.replace(/\.$/, ""), ...listed.split(", ")].filter((type) => type !== "");
  const kinds = types.map((type) => kindWords[type] ?? kindWords[type.replace(/[(<].*/s, "")] ?? "another value");
  const given = `: ${name.replaceAll("_", "") || name} of ${kinds.join(" and ")}`;
  const cure = kinds.includes("null")
    ? "ask whether it is null first, with != null"
    : cures.find(([one, other]) => kinds.includes(one) && kinds.includes(other))?.[2];
  return cure === undefined ? given : `${given}; ${cure}`;
}
