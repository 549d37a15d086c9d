import { dateOf } from "@svc/core/time";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { clockWords, durationWords, type Zone } from "../../words/time.ts";
import { type ChartData, dashOf, stepAt } from "./chart-data.ts";

/** Functions that control a chart drawn on a canvas, for example to show new data. */
export type Plot = {
  /** Shows new values. `data` must have the lines with which the chart was created. */
  update: (data: ChartData) => void;
  /** Marks the point at this position of the chart. Undefined removes the mark. */
  mark: (step: number | undefined) => void;
  /** Draws the chart again with the colours of the present theme. Called after the theme of the page has changed. */
  redraw: () => void;
  destroy: () => void;
};

/** Functions that the chart calls when the user points at a time step, clicks one, or drags over a range. */
export type PlotActs = {
  onStep: (step: number | undefined) => void;
  onPress: (step: number) => void;
  onBrush: (sinceMs: number, untilMs: number) => void;
};

const height = 160;
const font = "12px system-ui, sans-serif";
const brushedFromPx = 8;
const dayMs = 86_400_000;

/** Draws a chart into `host`, and returns it. The chart stays as wide as `host`. */
export function createPlot(host: HTMLElement, first: ChartData, zone: Zone, acts: PlotActs): Plot {
  let data = first;
  const colour = (name: string) => colourOf(host, name);
  const plot = new uPlot(
    {
      width: host.clientWidth || 300,
      height,
      ms: 1,
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false, dist: brushedFromPx }, points: { size: 6 } },
      tzDate: (ms) => (zone === "utc" ? uPlot.tzDate(dateOf(ms), "Etc/UTC") : dateOf(ms)),
      scales: {
        x: { range: () => [data.startMs, data.startMs + data.steps * data.stepMs] },
        y: { range: (_, __, max) => [0, Math.max(1, (max ?? 1) * 1.1)] },
      },
      series: [{}, ...data.lines.map((line, place) => seriesOf(data, line.tone, place, colour))],
      axes: axesOf(() => data, zone, colour),
      hooks: {
        setCursor: [
          (self) => acts.onStep(self.cursor.idx == null ? undefined : Math.min(self.cursor.idx, data.steps - 1)),
        ],
        setSelect: [
          (self) => {
            const { left, width } = self.select;
            if (width < brushedFromPx) return;
            const [sinceMs, untilMs] = [self.posToVal(left, "x"), self.posToVal(left + width, "x")];
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            acts.onBrush(sinceMs, untilMs);
          },
        ],
      },
    },
    aligned(data),
    host,
  );
  const stopPresses = watchPresses(plot, (step) => acts.onPress(Math.min(step, data.steps - 1)));
  const sized = new ResizeObserver(() => {
    if (host.clientWidth > 0) plot.setSize({ width: host.clientWidth, height });
  });
  sized.observe(host);
  return {
    update: (next) => {
      data = next;
      plot.setData(aligned(next));
    },
    mark: (step) => {
      if (step === undefined) plot.setCursor({ left: -10, top: -10 });
      else plot.setCursor({ left: plot.valToPos(stepAt(data, step).sinceMs, "x"), top: 0 });
    },
    redraw: () => plot.redraw(),
    destroy: () => {
      sized.disconnect();
      stopPresses();
      plot.destroy();
    },
  };
}

/**
 * Calls `onPress` with the time step of the chart that the user clicks. Ignores drags, because a drag selects a range. Returns a function
 * that removes the listeners.
 */
function watchPresses(plot: uPlot, onPress: (step: number) => void): () => void {
  let downAt = 0;
  const down = (event: MouseEvent) => {
    downAt = event.clientX;
  };
  const click = (event: MouseEvent) => {
    if (Math.abs(event.clientX - downAt) < brushedFromPx && plot.cursor.idx != null) onPress(plot.cursor.idx);
  };
  plot.over.addEventListener("mousedown", down);
  plot.over.addEventListener("click", click);
  return () => {
    plot.over.removeEventListener("mousedown", down);
    plot.over.removeEventListener("click", click);
  };
}

/**
 * Returns the chart's values in the form that uPlot needs. uPlot draws a step from its start to the next point, so the end of the last step
 * is added as a point.
 */
function aligned({ of, startMs, stepMs, steps, lines }: ChartData): uPlot.AlignedData {
  const times = Array.from({ length: steps + 1 }, (_, step) => startMs + step * stepMs);
  return [times, ...lines.map(({ values }) => [...values, of === "counts" ? (values.at(-1) ?? 0) : null])];
}

function seriesOf(data: ChartData, tone: string, place: number, colour: (name: string) => string): uPlot.Series {
  const stroke = () => colour(tone);
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const isAlone = data.lines.length === 1;
  return {
    stroke,
    width: 1.5,
    dash: [...dashOf(place)],
    ...(isAlone && { fill: () => `color-mix(in srgb, ${colour(tone)} 14%, transparent)` }),
    ...(data.of === "counts" && stepped !== undefined
      ? { paths: stepped, points: { show: false } }
      : { points: { show: true, size: 4, fill: stroke } }),
  };
}

function axesOf(data: () => ChartData, zone: Zone, colour: (name: string) => string): uPlot.Axis[] {
  const look: uPlot.Axis = {
    font,
    stroke: () => colour("plain"),
    grid: { stroke: () => colour("line"), width: 1 },
    ticks: { show: false },
  };
  return [
    {
      ...look,
      size: 28,
      space: 72,
      grid: { show: false },
      values: (_, at) => at.map((ms) => timeLabel(ms, data(), zone)),
    },
    {
      ...look,
      size: 56,
      space: 36,
      ...(data().of === "counts" && {
        incrs: [1, 2, 5].flatMap((n) => powers.map((power) => n * power)).sort((a, b) => a - b),
      }),
      values: (_, values) =>
        values.map((value) => (data().of === "counts" ? compact.format(value) : durationWords(value))),
    },
  ];
}

const powers = Array.from({ length: 10 }, (_, exponent) => 10 ** exponent);
const compact = new Intl.NumberFormat("en", { notation: "compact" });

function timeLabel(ms: number, { stepMs, steps }: ChartData, zone: Zone): string {
  const words = clockWords(ms, zone);
  return stepMs * steps > 2 * dayMs || words.slice(11, 16) === "00:00" ? words.slice(5, 10) : words.slice(11, 16);
}

const variables: Record<string, string> = { plain: "--fg-2", info: "--accent" };

/** Returns a colour of the page as a value that the canvas can use, in the current theme. */
function colourOf(host: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${variables[name] ?? `--${name}`})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
