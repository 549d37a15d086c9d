import type { MouseEvent, ReactNode, RefObject } from "react";
import { visible } from "../../words/text.ts";
import styles from "./grid.module.css";

/**
 * A column of a grid. `width`: the size of its CSS grid track (for example `96px` or `minmax(120px, 1fr)`). `drop`: its place in the order
 * in which columns are left out if the grid is too narrow for all; a column without it always stays.
 */
export type Column<Row> = { id: string; title: string; width: string; drop?: number; cell: (row: Row) => ReactNode };

/** Returns the widths of a grid's columns as a value of the CSS property `grid-template-columns`. */
export function tracks<Row>(columns: readonly Column<Row>[]): string {
  return columns.map(({ width }) => width).join(" ");
}

/** One row of a grid. On a phone it is drawn as a card. */
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
  /** Distance of the row from the start of the list, in pixels. Undefined if the row follows the row before. */
  start: number | undefined;
  row: Row;
  columns: readonly Column<Row>[];
  card: (row: Row) => ReactNode;
  isPhone: boolean;
  /** Ref to this row's element if the row is the active row (the row in which the focus is or last was). Undefined for all other rows. */
  activeRow: RefObject<HTMLDivElement | null> | undefined;
  isOpen: boolean;
  measure: ((element: HTMLDivElement | null) => void) | undefined;
  /** Called when the row or an element in it gets the focus. */
  onFocus: () => void;
  onPress: () => void;
}) {
  const transform = start === undefined ? undefined : `translateY(${start}px)`;
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
      <div {...shared} ref={ref} role="listitem" className={styles["card"]} style={{ transform }}>
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
      style={{ transform, gridTemplateColumns: tracks(columns) }}
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

/** True if the user pressed the row itself. False if the user pressed a link or a checkbox in the row, or has just selected text. */
function isPressOfRow(event: MouseEvent): boolean {
  if (event.target instanceof Element && event.target.closest("a, button, input") !== null) return false;
  return getSelection()?.isCollapsed ?? true;
}
