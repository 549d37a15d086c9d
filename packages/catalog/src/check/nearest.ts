const textMax = 100;
/**
 * Maximum number of candidates with which a misspelled text is compared. A comparison takes up to 10 µs, and a project may have thousands
 * of tools.
 */
const candidatesMax = 2_000;

/**
 * Returns the candidate that a misspelled text probably means, such as `calendar_id` for `calendarId`. Returns undefined if no candidate is
 * similar. Compares only the first 2,000 candidates. A text without a dot can also be the last part of a candidate: `list_events` means
 * `calendar.list_events`, if no other candidate ends in `.list_events`.
 */
export function nearest(text: string, candidates: Iterable<string>): string | undefined {
  if (text === "" || text.length > textMax) return undefined;
  const plain = plainOf(text);
  const afterDot: string[] = [];
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  let looked = 0;
  for (const candidate of candidates) {
    if (++looked > candidatesMax) break;
    if (candidate === text || candidate.length > textMax) continue;
    if (!text.includes(".") && candidate.endsWith(`.${text}`)) afterDot.push(candidate);
    const other = plainOf(candidate);
    const most = Math.min(bestDistance, Math.max(1, Math.floor(Math.max(plain.length, other.length) / 3)) + 1);
    const distance = distanceOf(plain, other, most);
    if (distance >= most) continue;
    best = candidate;
    bestDistance = distance;
  }
  return afterDot.length === 1 ? afterDot[0] : best;
}

/** Returns a text in lower case without separators, because most misspellings differ only in these. */
function plainOf(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]/g, "");
}

/**
 * Returns how many insertions, deletions, replacements and swaps of neighbouring characters turn one text into the other; at most `most`.
 */
function distanceOf(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) >= most) return most;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const replaced = at(row, j - 1) + (isSame ? 0 : 1);
      let least = Math.min(at(row, j) + 1, at(next, j - 1) + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(before, j - 2) + 1);
      next.push(least);
    }
    if (Math.min(...next) >= most) return most;
    before = row;
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
