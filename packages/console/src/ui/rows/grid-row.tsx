import type { MouseEvent, ReactNode, RefObject } from "react";
import { visible } from "../../words/text.ts";
import styles from "./grid.module.css";

/** A column of a grid. `width` is a track of CSS grid (`96px`, `minmax(120px, 1fr)`). */
export type Column<Row> = { id: string; title: string; width: string; cell: (row: Row) => ReactNode };

/** Returns the tracks of a grid's columns, in CSS. */
export function tracks<Row>(columns: readonly Column<Row>[]): string {
  return columns.map(({ width }) => width).join(" ");
}

/** One row of a grid, or its card on a phone. */
export function GridRow<Row>({
  index,
  start,
  row,
  columns,
  card,
  isPhone,
  activeRow,
  isOpen,
  measure,
  onFocus,
  onPress,
}: {
  index: number;
  /** Position in pixels from the start of the list. */
  start: number;
  row: Row;
  columns: readonly Column<Row>[];
  card: (row: Row) => ReactNode;
  isPhone: boolean;
  /** Ref of the active row; undefined for the others. */
  activeRow: RefObject<HTMLDivElement | null> | undefined;
  isOpen: boolean;
  measure: ((element: HTMLDivElement | null) => void) | undefined;
  /** Called when the row, or something in it, gets the focus. */
  onFocus: () => void;
  onPress: () => void;
}) {
  const shared = {
    "data-index": index,
    tabIndex: activeRow === undefined ? -1 : 0,
    onFocus,
    onClick: (event: MouseEvent) => {
      if (isPressOfRow(event)) onPress();
    },
  };
  const ref = (node: HTMLDivElement | null) => {
    if (activeRow !== undefined) activeRow.current = node;
    measure?.(node);
  };
  if (isPhone) {
    return (
      <div
        {...shared}
        ref={ref}
        role="listitem"
        className={styles["card"]}
        style={{ transform: `translateY(${start}px)` }}
      >
        {card(row)}
      </div>
    );
  }
  return (
    <div
      {...shared}
      ref={ref}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      className={styles["row"]}
      style={{ transform: `translateY(${start}px)`, gridTemplateColumns: tracks(columns) }}
    >
      {columns.map(({ id, cell }) => (
        <div key={id} role="gridcell" className={styles["cell"]}>
          {shown(cell(row))}
        </div>
      ))}
    </div>
  );
}

function shown(content: ReactNode): ReactNode {
  return typeof content === "string" ? visible(content) : content;
}

/** True if a press was meant for the row: not for a link in it, and not the end of selecting its text. */
function isPressOfRow(event: MouseEvent): boolean {
  if (event.target instanceof Element && event.target.closest("a, button") !== null) return false;
  return getSelection()?.isCollapsed ?? true;
}
