import type { Column } from "./grid-row.tsx";

/** Space between two columns, and between the columns and the edges of the grid, in pixels (grid.module.css). */
const gapPx = 16;
const edgePx = 20;

/**
 * Returns the columns that fit into a grid of this width in pixels. Columns are left out in the order of their `drop`, until the smallest
 * widths of the others fit, or until only columns without `drop` are left. All columns fit if the width is undefined.
 */
export function fitColumns<Row>(columns: readonly Column<Row>[], width: number | undefined): readonly Column<Row>[] {
  const order = columns.filter(({ drop }) => drop !== undefined).sort((a, b) => (a.drop ?? 0) - (b.drop ?? 0));
  let shown = columns;
  for (const next of order) {
    if (width === undefined || neededPx(shown) <= width) break;
    shown = shown.filter((column) => column !== next);
  }
  return shown;
}

function neededPx(columns: readonly Pick<Column<never>, "width">[]): number {
  const smallest = columns.map(({ width }) => Number(/(\d+)px/.exec(width)?.[1] ?? 0));
  return smallest.reduce((sum, px) => sum + px, 2 * edgePx + gapPx * Math.max(0, columns.length - 1));
}
