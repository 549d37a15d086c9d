/** The name of an enum's value in lower case and in words: `pending plan approval`. A value that this version does not name is its number. */
export function enumWords(names: Readonly<Record<string, number | string>>, value: number): string {
  const [name = String(value)] = Object.entries(names).find(([, number]) => number === value) ?? [];
  return name.toLowerCase().replaceAll("_", " ");
}
