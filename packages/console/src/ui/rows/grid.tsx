import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { usePreferences } from "../../shell/preferences.ts";
import { Icon } from "../icon.tsx";
import { useIsCoarse, useIsPhone } from "../media.ts";
import { copyText } from "../values/copy.tsx";
import styles from "./grid.module.css";
import { gridAct, useKeptFocus } from "./grid-keys.ts";
import { type Column, GridRow, tracks } from "./grid-row.tsx";

/** What a grid shows, and what is done with a row of it. */
export type GridProps<Row> = {
  /** The name of the list, for those who hear it. */
  label: string;
  columns: readonly Column<Row>[];
  /** The same row on a phone: its lines one below the other. */
  card: (row: Row) => ReactNode;
  rows: readonly Row[];
  rowId: (row: Row) => string;
  /** Opens the page of a row: Enter; on a phone a press, too. */
  onOpen: (row: Row) => void;
  /** Opens a row beside the list, or closes it: a press, and `o`. Without it a press opens the page. */
  onPanel?: (row: Row | undefined) => void;
  /** Id of the row that is open beside the list. */
  openId?: string | undefined;
  hasMore?: boolean;
  loadMore?: () => void;
  loadingMore?: boolean;
  /** Rows that came in since and wait to be shown; a press shows them. */
  fresh?: { count: number; show: () => void };
  /** Whether the reader is at the top, so that what comes in may be shown at once. */
  onTop?: (atTop: boolean) => void;
  /** Which rows are in view, by their index, whenever others are. */
  onView?: (first: number, last: number) => void;
};

/** So near to the end of what is loaded, the next page is asked for. */
const nearRows = 20;

/** A list of any length: only what is in view is in the document. */
export function Grid<Row>(props: GridProps<Row>) {
  const { label, columns, rows, rowId, onOpen, onPanel, openId, fresh } = props;
  const isPhone = useIsPhone();
  const isCoarse = useIsCoarse();
  const { shortcuts } = usePreferences();
  const scroller = useRef<HTMLDivElement>(null);
  const focus = useKeptFocus();
  const [activeId, setActiveId] = useState<string>();
  const activeAt = useRef(0);
  const found = rows.findIndex((row) => rowId(row) === activeId);
  // In place of a row that is gone stands the one that has its place now.
  const active = Math.max(0, found === -1 ? Math.min(activeAt.current, rows.length - 1) : found);
  activeAt.current = activeId === undefined ? 0 : active;
  const rowHeight = isPhone ? 76 : isCoarse ? 44 : 36;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    getItemKey: (index) => rowId(rows[index] as Row),
    // The row with the focus stays, wherever the list is scrolled to: a row that is gone would take the focus with it.
    rangeExtractor: (range) =>
      [...new Set([Math.min(active, rows.length - 1), ...defaultRangeExtractor(range)])].sort((a, b) => a - b),
  });
  const items = virtual.getVirtualItems();
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
    event.preventDefault();
    if (act.act === "move") {
      setActiveId(rowId(rows[act.to] as Row));
      virtual.scrollToIndex(act.to);
    } else if (act.act === "copy") void copyText(rowId(row), "id");
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
            style={{ height: virtual.getTotalSize() }}
          >
            {items.map(({ index, start, key }) => {
              const row = rows[index] as Row;
              return (
                <GridRow
                  key={key}
                  index={index}
                  start={start}
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

/** Whether a key belongs to what has the focus, and not to the list around it. */
function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, button, input, textarea, select") !== null;
}

function Head<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  return (
    <div role="rowgroup">
      <div className={styles["head"]} role="row" aria-rowindex={1} style={{ gridTemplateColumns: tracks(columns) }}>
        {columns.map(({ id, title }) => (
          <div key={id} role="columnheader" className={styles["cell"]}>
            {title}
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
        {count.toLocaleString("en")} loaded{hasMore ? ", more below" : ", that is all"}
      </span>
      {hasMore && (
        <button type="button" onClick={loadMore} disabled={loadingMore}>
          {loadingMore ? "Loading" : "Load more"}
        </button>
      )}
    </div>
  );
}
