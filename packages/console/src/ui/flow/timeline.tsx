import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useNow } from "../../clock.ts";
import { usePreferences } from "../../shell/preferences.ts";
import { visible } from "../../words/text.ts";
import { clockWords, durationWords, type Zone } from "../../words/time.ts";
import type { Tone } from "../../words/word.ts";
import { Button } from "../buttons/button.tsx";
import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icon.tsx";
import { useIsPhone, useIsPrinted } from "../media.ts";
import { useKeptFocus } from "../rows/grid-keys.ts";
import { copyText } from "../values/copy.tsx";
import { createAxis, type FlowAxis, type FlowTick, leftOf, liveEnd, ticksOf, timeAt } from "./axis.ts";
import { type FlowSpan, type FlowWait, findFolds, flowKeyAct, lengthOf, visibleRows } from "./fold.ts";
import { StepTile } from "./step-tile.tsx";
import styles from "./timeline.module.css";
import { Bar, type TimelineBar } from "./timeline-bar.tsx";

/** A row of the timeline: a step, a call of a `map`, or a child job. */
export type TimelineRow = {
  readonly id: string;
  /** Id of the row that contains this row. */
  readonly parent: string | undefined;
  /** Depth of the row in the tree, from 1. */
  readonly level: number;
  readonly kind: string;
  /** Slug of the tool that the row calls; empty if it calls none. */
  readonly tool: string;
  readonly name: string;
  readonly title: string;
  /** Name of the block of steps that begins with this row, such as `else`. Empty if none does. */
  readonly block: string;
  /** Icon of a state that the user should see at once, such as a failure. */
  readonly mark: { readonly icon: IconName; readonly tone: Tone } | undefined;
  readonly bars: readonly TimelineBar[];
  readonly rows: ReactNode;
  readonly time: ReactNode;
  /** For a row with rows inside: true if they are shown. */
  readonly isOpen: boolean | undefined;
};

/**
 * The times of a timeline, in epoch milliseconds. `zero`: time from which offsets count. `end`: undefined while the job runs. `working`:
 * times in which a step works; `to` is undefined while it works. `waits`: times in which the job waits.
 */
export type TimelineTimes = {
  readonly zero: number;
  readonly end: number | undefined;
  readonly working: readonly { readonly from: number; readonly to: number | undefined }[];
  readonly waits: readonly (Omit<FlowWait, "to"> & { readonly to: number | undefined })[];
};

type TimelineProps = {
  label: string;
  rows: readonly TimelineRow[];
  times: TimelineTimes;
  /** Id of the row whose drawer is open. */
  selected: string | undefined;
  /** The shown part of the time, in milliseconds after `zero`. Undefined for all of it. */
  zoom: FlowSpan | undefined;
  onZoom: (zoom: FlowSpan | undefined) => void;
  onToggle: (id: string) => void;
  onSelect: (id: string | undefined) => void;
};

/** Number of rows above which only the rows in view are in the document. */
const rowsInDocumentMax = 60;

/**
 * Draws the steps of a job as a tree grid with a time axis. Arrows open, close and move; `j` and `k` move; Enter opens the drawer of a step;
 * dragging over the axis zooms, and `0` shows all of it.
 */
export function Timeline(props: TimelineProps) {
  const { label, times, zoom, onZoom } = props;
  const head = useRef<HTMLDivElement>(null);
  const width = useWidth(head);
  const now = useNow();
  const { folds, within } = useMemo(() => shownTimes(times, now), [times, now]);
  const axis = useMemo(() => {
    const part = zoom === undefined ? within : { from: times.zero + zoom.from, to: times.zero + zoom.to };
    return createAxis({ zero: times.zero, within: part, folds, width });
  }, [times.zero, zoom, within, folds, width]);
  return (
    <div className={styles["timeline"]}>
      <TimelineGrid {...props} label={label} axis={axis} head={head} isLive={times.end === undefined} now={now} />
      <div className={styles["foot"]}>
        <Legend rows={props.rows} />
        <span className={styles["hint"]}>
          {foldWords(folds)}
          {zoom === undefined && "Drag over the times to zoom."}
        </span>
        {zoom !== undefined && <Button onPress={() => onZoom(undefined)}>Show all times</Button>}
      </div>
    </div>
  );
}

/** Returns the time that the axis shows, and its folded idle times. */
function shownTimes(
  { zero, end, working, waits }: TimelineTimes,
  now: number,
): { folds: readonly FlowWait[]; within: FlowSpan } {
  const until = (to: number | undefined) => Math.max(zero, to ?? end ?? now);
  const closed = working.map(({ from, to }) => ({ from, to: Math.max(from, until(to)) }));
  const waiting = waits.map(({ from, to, words }) => ({ from, to: Math.max(from, until(to)), words }));
  const last = Math.max(zero, ...closed.map(({ to }) => to), ...waiting.map(({ to }) => to));
  const isWorking = end === undefined && working.some(({ to }) => to === undefined);
  const within = { from: zero, to: end === undefined ? Math.max(last, now) : last };
  const folds = findFolds(closed, within, waiting);
  if (!isWorking) return { folds, within };
  return { folds, within: { from: zero, to: liveEnd(within.to, within.to - zero - lengthOf(folds)) } };
}

/** Returns the width of an element in pixels; 0 until it is measured. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measured = element.current;
    if (measured === null) return;
    const measure = () => setWidth(measured.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

type GridProps = TimelineProps & {
  axis: FlowAxis;
  head: RefObject<HTMLDivElement | null>;
  isLive: boolean;
  now: number;
};

function TimelineGrid(props: GridProps) {
  const { label, axis, head, selected, onZoom } = props;
  const { zone, shortcuts } = usePreferences();
  const isPhone = useIsPhone();
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => visibleRows(props.rows, closedRows(props.rows)), [props.rows]);
  const { active, focus, activate } = useActiveRow(rows, selected);
  const isPrinted = useIsPrinted();
  const isVirtual = rows.length > rowsInDocumentMax && !isPrinted;
  const height = isPhone ? 60 : 35;
  const virtual = useVirtualizer({
    count: isVirtual ? rows.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 10,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  const shown = isVirtual ? placesOf(virtual.getVirtualItems(), active) : rows.map((_, index) => index);
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey || isControl(event.target)) return;
    const isClosed = row.isOpen === undefined ? undefined : !row.isOpen;
    const act = flowKeyAct(event.key, { rows, at: active, isClosed, letters: shortcuts });
    if (act === undefined || (act.act === "close" && selected === undefined)) return;
    event.preventDefault();
    if (act.act === "move") {
      activate(rows[act.to]?.id, true);
      if (isVirtual) virtual.scrollToIndex(act.to);
    } else if (act.act === "toggle") props.onToggle(row.id);
    else if (act.act === "reset") onZoom(undefined);
    else if (act.act === "copy") void copyText(row.name, "id");
    else props.onSelect(act.act === "close" || row.id === selected ? undefined : row.id);
  };
  const drag = useDragZoom({ body, head, axis, onZoom });
  return (
    <div
      ref={scroller}
      className={classNames(styles["grid"], isVirtual && styles["scrolls"])}
      role="treegrid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      onKeyDown={onKeyDown}
      onFocus={focus.onFocus}
      onBlur={focus.onBlur}
    >
      <Head axis={axis} head={head} zone={zone} />
      <div
        ref={body}
        role="rowgroup"
        className={styles["body"]}
        style={isVirtual ? { height: rows.length * height } : undefined}
        {...drag.handlers}
      >
        <Ground axis={axis} drag={drag.span} now={props.isLive ? props.now : undefined} />
        {shown.map((index) => {
          const row = rows[index] as TimelineRow;
          return (
            <Row
              key={row.id}
              row={row}
              index={index}
              top={isVirtual ? index * height : undefined}
              axis={axis}
              zone={zone}
              isSelected={row.id === selected}
              activeRow={index === active ? focus.row : undefined}
              onFocus={() => activate(row.id, false)}
              onToggle={() => props.onToggle(row.id)}
              onPress={() => {
                if (!drag.wasDragged()) props.onSelect(row.id === selected ? undefined : row.id);
              }}
            />
          );
        })}
      </div>
    </div>
  );
}

function closedRows(rows: readonly TimelineRow[]): (id: string) => boolean {
  const closed = new Set(rows.filter(({ isOpen }) => isOpen === false).map(({ id }) => id));
  return (id) => closed.has(id);
}

/** Returns the indexes of the rows that are drawn: those in view, and the active row, which keeps the focus. */
function placesOf(items: readonly { readonly index: number }[], active: number): readonly number[] {
  return [...new Set([active, ...items.map(({ index }) => index)])].sort((a, b) => a - b);
}

/** True if a pressed key is for a button or a link in the row, and not for the row. */
function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest("a, button") !== null;
}

/** Holds the row that has the focus or had it last. When the drawer closes, the row whose drawer it was gets the focus. */
function useActiveRow(rows: readonly TimelineRow[], selected: string | undefined) {
  const focus = useKeptFocus();
  const [activeId, setActiveId] = useState(selected);
  const found = rows.findIndex(({ id }) => id === activeId);
  const active = Math.max(0, found);
  const [moves, setMoves] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each move of the focus is a new one
  useLayoutEffect(() => {
    if (moves > 0) focus.row.current?.focus({ preventScroll: false });
  }, [moves]);
  const before = useRef(selected);
  useEffect(() => {
    const isClosed = before.current !== undefined && selected === undefined;
    before.current = selected;
    if (isClosed && document.activeElement === document.body) focus.row.current?.focus({ preventScroll: true });
  }, [selected, focus.row]);
  const activate = (id: string | undefined, moves: boolean) => {
    setActiveId(id);
    if (moves) setMoves((count) => count + 1);
  };
  return { active, focus, activate };
}

function Head({ axis, head, zone }: { axis: FlowAxis; head: RefObject<HTMLDivElement | null>; zone: Zone }) {
  return (
    <div role="rowgroup">
      <div role="row" aria-rowindex={1} className={classNames(styles["row"], styles["head"])}>
        <div role="columnheader" className={styles["nameHead"]}>
          Step
        </div>
        <div role="columnheader" className={styles["axis"]} ref={head}>
          <span className="visually-hidden">When</span>
          {spacedTicks(ticksOf(axis), axis.width).map((tick) => (
            <span
              key={tick.at}
              className={classNames(styles["tick"], tick.left < 24 && styles["first"])}
              style={{ left: tick.left }}
              aria-hidden="true"
            >
              {tickWords(tick, zone)}
            </span>
          ))}
        </div>
        <div role="columnheader" className={styles["figure"]}>
          Rows
        </div>
        <div role="columnheader" className={styles["figure"]}>
          Time
        </div>
      </div>
    </div>
  );
}

/** Minimum distance between the labels of two ticks, in pixels. */
const labelPx = 58;

/** Returns the ticks whose labels do not touch the label before. A time of day is kept in place of a label that would touch it. */
function spacedTicks(ticks: readonly FlowTick[], width: number): readonly FlowTick[] {
  const kept: FlowTick[] = [];
  for (const tick of ticks) {
    if (tick.left > width - 20) continue;
    const last = kept.at(-1);
    if (last === undefined || tick.left - last.left >= labelPx) kept.push(tick);
    else if (tick.label === "clock" && last.label !== "clock" && kept.length > 1) kept[kept.length - 1] = tick;
  }
  return kept;
}

function tickWords({ at, label, ms }: FlowTick, zone: Zone): string {
  if (label === "clock") return clockWords(at, zone).slice(11);
  const offset = ms === 0 ? "0" : durationWords(ms);
  return label === "since" ? `+${offset}` : offset;
}

/** Draws what is below the bars: a line at each tick, a band over each fold, the part that is being dragged, and the present time. */
function Ground({ axis, drag, now }: { axis: FlowAxis; drag: FlowSpan | undefined; now: number | undefined }) {
  return (
    <div className={styles["ground"]} aria-hidden="true">
      {axis.pieces.map(
        ({ from, left, width, fold }) =>
          fold !== undefined && <span key={from} className={styles["fold"]} style={{ left, width }} />,
      )}
      {ticksOf(axis).map(({ at, left }) => (
        <span key={at} className={styles["line"]} style={{ left }} />
      ))}
      {now !== undefined && now > axis.from && now < axis.to && (
        <span className={styles["now"]} style={{ left: leftOf(axis, now) }} />
      )}
      {drag !== undefined && (
        <span
          className={styles["drag"]}
          style={{ left: leftOf(axis, drag.from), width: leftOf(axis, drag.to) - leftOf(axis, drag.from) }}
        />
      )}
    </div>
  );
}

/** Draws a row of the timeline: its name in the tree, its bars, its numbers of rows, and its time. */
function Row({
  row,
  index,
  top,
  axis,
  zone,
  isSelected,
  activeRow,
  onFocus,
  onToggle,
  onPress,
}: {
  row: TimelineRow;
  index: number;
  /** Distance from the top of the rows in pixels, if only the rows in view are drawn. */
  top: number | undefined;
  axis: FlowAxis;
  zone: Zone;
  isSelected: boolean;
  activeRow: RefObject<HTMLDivElement | null> | undefined;
  onFocus: () => void;
  onToggle: () => void;
  onPress: () => void;
}) {
  const { level, isOpen, bars } = row;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid around the rows handles keys
    <div
      ref={activeRow}
      role="row"
      data-index={index}
      aria-rowindex={index + 2}
      aria-level={level}
      aria-selected={isSelected}
      {...(isOpen !== undefined && { "aria-expanded": isOpen })}
      tabIndex={activeRow === undefined ? -1 : 0}
      className={classNames(styles["row"], isSelected && styles["selected"], top !== undefined && styles["placed"])}
      style={top === undefined ? undefined : { transform: `translateY(${top}px)` }}
      onFocus={onFocus}
      onClick={({ target }) => {
        if (!isControl(target)) onPress();
      }}
    >
      <NameCell row={row} onToggle={onToggle} />
      <div role="gridcell" className={styles["axis"]}>
        {axis.width > 0 && bars.map((bar) => <Bar key={bar.id} bar={bar} axis={axis} zone={zone} />)}
      </div>
      <div role="gridcell" className={styles["figure"]}>
        {row.rows}
      </div>
      <div role="gridcell" className={classNames(styles["figure"], styles["time"])}>
        {row.time}
      </div>
    </div>
  );
}

function NameCell({ row, onToggle }: { row: TimelineRow; onToggle: () => void }) {
  const { level, isOpen, kind, tool, name, title, block, mark } = row;
  return (
    <div role="gridcell" className={styles["name"]} style={{ paddingLeft: 10 + Math.min(level - 1, 6) * 22 }}>
      {level > 1 && <span className={styles["branch"]} style={{ left: 21 + Math.min(level - 2, 5) * 22 }} />}
      {isOpen === undefined ? (
        <StepTile kind={kind} tool={tool} />
      ) : (
        <button
          type="button"
          tabIndex={-1}
          className={styles["toggle"]}
          aria-label={`${isOpen ? "Close" : "Open"} ${name}`}
          onClick={onToggle}
        >
          <StepTile kind={kind} tool={tool} />
          <span className={classNames(styles["chevron"], isOpen && styles["turned"])}>
            <Icon name="chevronRight" size={10} />
          </span>
        </button>
      )}
      <b className={styles["id"]} title={name}>
        {visible(name)}
      </b>
      <span className={styles["title"]} title={title}>
        {block !== "" && <span className={styles["block"]}>{visible(block)}</span>} <bdi>{visible(title)}</bdi>
      </span>
      {mark !== undefined && (
        <span className={classNames(styles["mark"], styles[mark.tone])}>
          <Icon name={mark.icon} size={14} />
        </span>
      )}
    </div>
  );
}

/** Distance in pixels from which a movement of the pointer counts as a drag. */
const dragPx = 8;

/** Lets the user drag over the axis to zoom. `span`: the part that is being dragged over. `wasDragged`: true right after a drag. */
function useDragZoom({
  body,
  head,
  axis,
  onZoom,
}: {
  body: RefObject<HTMLDivElement | null>;
  head: RefObject<HTMLDivElement | null>;
  axis: FlowAxis;
  onZoom: (zoom: FlowSpan) => void;
}) {
  const [span, setSpan] = useState<FlowSpan>();
  const start = useRef<number>(undefined);
  const dragged = useRef(false);
  const placeOf = (clientX: number) => clientX - (head.current?.getBoundingClientRect().left ?? 0);
  const spanTo = (clientX: number): FlowSpan | undefined => {
    const from = start.current;
    const to = Math.min(axis.width, Math.max(0, placeOf(clientX)));
    if (from === undefined || Math.abs(to - from) < dragPx) return undefined;
    return { from: timeAt(axis, Math.min(from, to)), to: timeAt(axis, Math.max(from, to)) };
  };
  return {
    span,
    wasDragged: () => dragged.current,
    handlers: {
      onPointerDown: ({ pointerType, button, clientX }: React.PointerEvent) => {
        dragged.current = false;
        const place = placeOf(clientX);
        if (pointerType === "mouse" && button === 0 && place >= 0 && place <= axis.width) start.current = place;
      },
      onPointerMove: ({ clientX, pointerId, buttons }: React.PointerEvent) => {
        // The button was released outside of the timeline.
        if (buttons === 0) start.current = undefined;
        const next = spanTo(clientX);
        if (next === undefined) return;
        if (span === undefined) body.current?.setPointerCapture(pointerId);
        dragged.current = true;
        setSpan(next);
      },
      onPointerUp: ({ clientX }: React.PointerEvent) => {
        const next = spanTo(clientX);
        start.current = undefined;
        setSpan(undefined);
        if (next === undefined) return;
        const from = Math.floor(next.from - axis.zero);
        onZoom({ from, to: Math.max(from + 1, Math.ceil(next.to - axis.zero)) });
      },
    },
  };
}

/** The looks that the legend explains, in order. Only those that the timeline has are shown. */
const legend = [
  ["ok", "Done"],
  ["warn", "Partly done"],
  ["bad", "Failed"],
  ["info", "Running"],
  ["wait", "Waiting"],
  ["undone", "Undone"],
  ["plain", "Skipped or not reached"],
] as const;

function Legend({ rows }: { rows: readonly TimelineRow[] }) {
  const used = new Set(rows.flatMap(({ bars }) => bars.map(({ look }) => look)));
  return (
    <ul className={styles["legend"]} aria-label="Colours">
      {legend.map(
        ([look, words]) =>
          used.has(look) && (
            <li key={look}>
              <span className={classNames(styles["sample"], styles[look])} />
              {words}
            </li>
          ),
      )}
    </ul>
  );
}

/** Returns a sentence with the folded waits, such as `Folded: 3 h 58 min for lead. `. Empty if no fold is a wait. */
function foldWords(folds: readonly FlowWait[]): string {
  const waits = folds.filter(({ words }) => words !== "");
  const named = waits.slice(0, 3).map(({ from, to, words }) => `${durationWords(to - from)} ${words}`);
  const more = waits.length > 3 ? `, and ${waits.length - 3} more` : "";
  return waits.length === 0 ? "" : `Folded: ${named.join(", ")}${more}. `;
}
