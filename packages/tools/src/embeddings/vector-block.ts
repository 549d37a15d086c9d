import { multiply, strideOf } from "./dots.ts";
import type { Vector } from "./vector.ts";

/** Vectors of the same size, one behind the other, so that one pass compares them all with another. */
type Block = {
  readonly size: number;
  readonly rows: Int8Array;
  /** By row: whose it is, and its length. */
  readonly places: Int32Array;
  readonly lengths: Float64Array;
};

/** Vectors by places, some of which may have none. Sizes differ where models did. */
export type VectorBlocks = { readonly count: number; readonly blocks: readonly Block[] };

/** Lays vectors out. */
export function blocksOf(vectors: readonly (Vector | undefined)[]): VectorBlocks {
  const placed = vectors.flatMap((vector, place) => (vector === undefined ? [] : [{ vector, place }]));
  const bySize = Map.groupBy(placed, ({ vector }) => vector.parts.length);
  return { count: vectors.length, blocks: [...bySize].map(([size, same]) => blockOf(size, same)) };
}

function blockOf(size: number, placed: readonly { readonly vector: Vector; readonly place: number }[]): Block {
  const stride = strideOf(size);
  const rows = new Int8Array(placed.length * stride);
  for (const [row, { vector }] of placed.entries()) rows.set(vector.parts, row * stride);
  return {
    ...{ size, rows, places: Int32Array.from(placed, ({ place }) => place) },
    lengths: Float64Array.from(placed, ({ vector }) => vector.length),
  };
}

/**
 * How near each is to a vector, by place: 1 the same direction, 0 nothing in common. NaN where there is none, or one of another size, which comes from
 * another model.
 */
export function likenessesOf(query: Vector, { count, blocks }: VectorBlocks): number[] {
  const likenesses = new Array<number>(count).fill(Number.NaN);
  for (const { size, rows, places, lengths } of blocks) {
    if (size !== query.parts.length) continue;
    multiply(query.parts, rows, (row, product) => {
      likenesses[places[row] ?? 0] = product / (query.length * (lengths[row] ?? 1));
    });
  }
  return likenesses;
}
