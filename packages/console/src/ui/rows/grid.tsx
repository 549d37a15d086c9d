import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { usePreferences } from "../../shell/preferences.ts";
import { Icon } from "../icon.tsx";
import { useIsCoarse, useIsPhone, useIsPrinted } from "../media.ts";
import { copyText } from "../values/copy.tsx";
import { fitColumns } from "./fit-columns.ts";
import styles from "./grid.module.css";
import { gridAct, useKeptFocus } from "./grid-keys.ts";
import { type Column, GridRow, tracks } from "./grid-row.tsx";

/** The rows and columns of a grid, and the actions on its rows. */
export type GridProps<Row> = {
  /** Accessible name of the list. */
  label: string;
  columns: readonly Column<Row>[];
  /** Draws a row as a card on a phone, with the values below each other. */
  card: (row: Row) => ReactNode;
  rows: readonly Row[];
  rowId: (row: Row) => string;
  /** Opens the page of a row. Called for the Enter key; on a phone also for a press. */
  onOpen: (row: Row) => void;
  /**
   * Opens the panel of a row next to the list, or closes the panel (undefined). Called for a press and for the key `o`. Without `onPanel`,
   * a press opens the row's page.
   */
  onPanel?: (row: Row | undefined) => void;
  /** Id of the row whose panel is open; undefined if no panel is open. */
  openId?: string | undefined;
  /** Selects a row, or removes it from the selection. Called for the space bar and for the key `x`. */
  onSelect?: (row: Row) => void;
  hasMore?: boolean;
  loadMore?: () => void;
  loadingMore?: boolean;
  /** New rows that are not shown yet. `count`: their number. `show`: shows them when the user presses the button. */
  fresh?: { count: number; show: () => void };
  /** Called with true if the user sees the top of the list, and with false otherwise. New rows can be shown at once at the top. */
  onTop?: (atTop: boolean) => void;
  /** Called when the visible rows change, with the indexes of the first and the last visible row. */
  onView?: (first: number, last: number) => void;
};

/** Number of rows before the last loaded row at which the list loads the next page. */
const nearRows = 20;

/** A list of any length. Only the visible rows are in the document. */
export function Grid<Row>(props: GridProps<Row>) {
  const { label, rows, rowId, onOpen, onPanel, openId, fresh } = props;
  const isPhone = useIsPhone();
  const isCoarse = useIsCoarse();
  const isPrinted = useIsPrinted();
  const { shortcuts } = usePreferences();
  const scroller = useRef<HTMLDivElement>(null);
  const focus = useKeptFocus();
  const [activeId, setActiveId] = useState<string>();
  const activeAt = useRef(0);
  const found = rows.findIndex((row) => rowId(row) === activeId);
  // If the active row was removed, the row that is now at its position becomes active.
  const active = Math.max(0, found === -1 ? Math.min(activeAt.current, rows.length - 1) : found);
  activeAt.current = activeId === undefined ? 0 : active;
  const rowHeight = isPhone ? 76 : isCoarse ? 44 : 40;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: isPrinted ? rows.length : 8,
    getItemKey: (index) => rowId(rows[index] as Row),
    // Always includes the active row, so that it stays in the document while the list scrolls. Removing it would lose the focus.
    rangeExtractor: (range) =>
      [...new Set([Math.min(active, rows.length - 1), ...defaultRangeExtractor(range)])].sort((a, b) => a - b),
  });
  const items = virtual.getVirtualItems();
  const columns = fitColumns(props.columns, isPrinted ? undefined : virtual.scrollRect?.width);
  const { startIndex = 0, endIndex = 0 } = virtual.range ?? {};
  const onView = useRef(props.onView);
  onView.current = props.onView;
  useEffect(() => onView.current?.(startIndex, endIndex), [startIndex, endIndex]);
  const endInView = (items.at(-1)?.index ?? 0) >= rows.length - nearRows;

  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey || isControl(event.target)) return;
    const act = gridAct(event.key, active, rows.length, shortcuts);
    if (act === undefined || (act.act === "close" && openId === undefined)) return;
    if (act.act === "select" && props.onSelect === undefined) return;
    event.preventDefault();
    if (act.act === "move") {
      setActiveId(rowId(rows[act.to] as Row));
      virtual.scrollToIndex(act.to);
    } else if (act.act === "copy") void copyText(rowId(row), "id");
    else if (act.act === "select") props.onSelect?.(row);
    else if (act.act === "close") onPanel?.(undefined);
    else if (act.act === "panel" && onPanel !== undefined) onPanel(rowId(row) === openId ? undefined : row);
    else onOpen(row);
  };

  return (
    <div className={styles["frame"]} onFocus={focus.onFocus} onBlur={focus.onBlur}>
      <div className={styles["holder"]}>
        {fresh !== undefined && fresh.count > 0 && (
          <button
            type="button"
            className={styles["fresh"]}
            onClick={() => {
              fresh.show();
              setActiveId(undefined);
              scroller.current?.scrollTo({ top: 0 });
            }}
          >
            {fresh.count} new <Icon name="arrowRight" />
          </button>
        )}
        <div
          ref={scroller}
          className={styles["grid"]}
          role={isPhone ? "list" : "grid"}
          aria-label={label}
          {...(!isPhone && { "aria-rowcount": props.hasMore ? -1 : rows.length + 1, "aria-colcount": columns.length })}
          onKeyDown={onKeyDown}
          onScroll={({ currentTarget }) => {
            props.onTop?.(currentTarget.scrollTop < rowHeight);
            if (endInView && props.hasMore && !props.loadingMore) props.loadMore?.();
          }}
        >
          {!isPhone && <Head columns={columns} />}
          <div
            className={styles["body"]}
            role={isPhone ? "presentation" : "rowgroup"}
            {...(!isPrinted && { style: { height: virtual.getTotalSize() } })}
          >
            {items.map(({ index, start, key }) => {
              const row = rows[index] as Row;
              return (
                <GridRow
                  key={key}
                  index={index}
                  start={isPrinted ? undefined : start}
                  isPhone={isPhone}
                  activeRow={index === active ? focus.row : undefined}
                  isOpen={rowId(row) === openId}
                  measure={isPhone ? virtual.measureElement : undefined}
                  columns={columns}
                  card={props.card}
                  row={row}
                  onFocus={() => setActiveId(rowId(row))}
                  onPress={() => {
                    if (isPhone || onPanel === undefined) onOpen(row);
                    else onPanel(rowId(row) === openId ? undefined : row);
                  }}
                />
              );
            })}
          </div>
        </div>
      </div>
      <Foot
        count={rows.length}
        hasMore={props.hasMore ?? false}
        loadingMore={props.loadingMore ?? false}
        loadMore={props.loadMore}
      />
    </div>
  );
}

/** True if a pressed key is for the focused control (for example a link), and not for the list around it. */
function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, button, input, textarea, select") !== null;
}

function Head<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  return (
    <div role="rowgroup">
      <div className={styles["head"]} role="row" aria-rowindex={1} style={{ gridTemplateColumns: tracks(columns) }}>
        {columns.map(({ id, title }) => (
          <div key={id} role="columnheader" className={styles["cell"]}>
            {id === "check" ? <span className="visually-hidden">{title}</span> : title}
          </div>
        ))}
      </div>
    </div>
  );
}

function Foot({
  count,
  hasMore,
  loadingMore,
  loadMore,
}: {
  count: number;
  hasMore: boolean;
  loadingMore: boolean;
  loadMore: (() => void) | undefined;
}) {
  return (
    <div className={styles["foot"]}>
      <span>
        Showing {count.toLocaleString("en")}
        {hasMore ? ", scroll for more" : ""}
      </span>
      {hasMore && (
        <button type="button" onClick={loadMore} disabled={loadingMore}>
          {loadingMore ? "Loading" : "Load more"}
        </button>
      )}
    </div>
  );
}
