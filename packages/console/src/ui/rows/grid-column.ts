import type { ReactNode } from "react";

/** A column of a grid. `width` is a track of CSS grid (`96px`, `minmax(120px, 1fr)`). */
export type Column<Row> = { id: string; title: string; width: string; cell: (row: Row) => ReactNode };

/** The tracks of a grid's columns, as CSS writes them. */
export function tracks<Row>(columns: readonly Column<Row>[]): string {
  return columns.map(({ width }) => width).join(" ");
}
