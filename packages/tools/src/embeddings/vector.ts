/**
 * A direction that a text lies in: a signed byte for each number, the largest as 127, and the length of that. An eighth of what the numbers take,
 * which order tools as they do.
 */
export type Vector = { readonly parts: Int8Array; readonly length: number };

/** Numbers of a vector at most, and at least: what has fewer is none. */
export const dimensionBounds = { min: 2, max: 4_096 };

/** Packs what an endpoint answered; undefined for what is no direction: no list of numbers, too long, or nothing but zeros. */
export function packVector(numbers: unknown): Vector | undefined {
  if (!Array.isArray(numbers)) return undefined;
  if (numbers.length < dimensionBounds.min || numbers.length > dimensionBounds.max) return undefined;
  let most = 0;
  for (const number of numbers) {
    if (typeof number !== "number" || !Number.isFinite(number)) return undefined;
    most = Math.max(most, Math.abs(number));
  }
  if (most === 0) return undefined;
  return vectorOf(Int8Array.from(numbers, (number: number) => Math.round((number / most) * 127)));
}

/** A vector of its parts, as they are kept. */
export function vectorOf(parts: Int8Array): Vector {
  return { parts, length: Math.sqrt(parts.reduce((sum, part) => sum + part * part, 0)) };
}
