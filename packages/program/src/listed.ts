/** Names as a sentence lists them: `a, b or c`. */
export function listed(names: readonly string[], word: "and" | "or"): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} ${word} ${last}`;
}
