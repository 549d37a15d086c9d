/**
 * Whether two values are the same, as a condition that no index serves: rows are found by the others. A key finds one row and its
 * project finds thousands, and a plan made while the store was small may take the one for the other.
 */
export function filterBy(column: string, value: string): string {
  return `${column} is not distinct from ${value}`;
}
