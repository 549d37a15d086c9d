/**
 * Compares keys part by part. Whoever writes several rows that others write too does so in this order: two statements that lock the same rows
 * in different orders each wait for the other, and PostgreSQL ends one of them (40P01).
 */
export function compareKeys(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? "";
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}
