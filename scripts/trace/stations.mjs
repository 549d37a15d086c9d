/**
 * Returns the way of a run through the files. It consists of stations, each a stay in one file with the functions entered there, in order
 * and without duplicates. Also returns how often each file was visited, most visited first, and the counts. `entries`: indexes into
 * `functions`.
 */
export function wayOf(functions, entries) {
  const stations = [];
  for (const { file, name } of entries.map((id) => functions[id])) {
    const last = stations.at(-1);
    if (last?.file !== file) stations.push({ file, functions: new Set([name]) });
    else last.functions.add(name);
  }
  const visits = new Map();
  for (const { file } of stations) visits.set(file, (visits.get(file) ?? 0) + 1);
  return {
    stations: stations.map(({ file, functions: names }) => ({ file, functions: [...names] })),
    visits: [...visits]
      .map(([file, count]) => ({ file, visits: count }))
      .sort((one, other) => other.visits - one.visits || (one.file < other.file ? -1 : 1)),
    entries: entries.length,
    files: visits.size,
    returns: stations.length - visits.size,
  };
}

/** Maximum number of functions of a station that the text names. */
const namesMax = 4;

/** Returns the way of a run as text: the stations, the visits and the counts. */
export function wayText({ stations, visits, files, returns }) {
  const widest = Math.max(0, ...visits.map(({ file }) => file.length));
  const digits = String(stations.length).length;
  const lines = [
    ...stations.map(
      ({ file, functions }, index) =>
        `${String(index + 1).padStart(digits)}  ${file.padEnd(widest)}  ${namesText(functions)}`,
    ),
    "",
    `${"file".padEnd(widest)}  visits`,
    ...visits.map(({ file, visits: count }) => `${file.padEnd(widest)}  ${String(count).padStart(6)}`),
    "",
    `${stations.length} stations in ${files} files, ${returns} of them returns`,
  ];
  return `${lines.join("\n")}\n`;
}

function namesText(names) {
  const more = names.length - namesMax;
  return `${names.slice(0, namesMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
