import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";
import { useIsPrinted } from "../media.ts";
import styles from "./virtual-list.module.css";

/** Distance from the end of the list, in pixels. If the reader is nearer, the list scrolls to new rows. */
const nearPx = 24;

/**
 * A list of any length whose rows have different heights. `follows`: true if the list scrolls to new rows while the reader is at its end.
 * The list does not scroll for readers who have scrolled away.
 */
export function VirtualList<Row>({
  label,
  rows,
  rowId,
  follows,
  children,
}: {
  label: string;
  rows: readonly Row[];
  rowId: (row: Row) => string | number;
  follows: boolean;
  children: (row: Row) => ReactNode;
}) {
  const scroller = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  const isPrinted = useIsPrinted();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 37,
    overscan: isPrinted ? rows.length : 8,
    getItemKey: (index) => rowId(rows[index] as Row),
  });
  const size = virtual.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: if the size changes, the end of the list moves
  useEffect(() => {
    if (follows && atEnd.current) scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [size, follows]);
  return (
    <section
      ref={scroller}
      className={styles["scroller"]}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this section
      tabIndex={0}
      aria-label={label}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        atEnd.current = scrollHeight - scrollTop - clientHeight < nearPx;
      }}
    >
      <ol className={styles["list"]} {...(!isPrinted && { style: { height: size } })}>
        {virtual.getVirtualItems().map(({ index, start, key }) => (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            aria-posinset={index + 1}
            aria-setsize={rows.length}
            className={styles["row"]}
            {...(!isPrinted && { style: { transform: `translateY(${start}px)` } })}
          >
            {children(rows[index] as Row)}
          </li>
        ))}
      </ol>
    </section>
  );
}
