import { useEffect, useRef } from "react";
import type { Zone } from "../../words/time.ts";
import { useTheme } from "../media.ts";
import type { ChartData } from "./chart-data.ts";
import { createPlot, type Plot, type PlotActs } from "./plot.ts";

/** The canvas of a chart that shows values over time. `step`: index of the time step that the chart highlights. */
export default function TimeChart({
  data,
  zone,
  step,
  ...acts
}: { data: ChartData; zone: Zone; step: number | undefined } & PlotActs) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>(undefined);
  const latest = useRef({ data, acts });
  latest.current = { data, acts };
  const theme = useTheme();
  const lines = data.lines.map(({ id }) => id).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: new values only update the chart; new lines need a new chart
  useEffect(() => {
    if (host.current === null) return undefined;
    const made = createPlot(host.current, latest.current.data, zone, {
      onStep: (at) => latest.current.acts.onStep(at),
      onPress: (at) => latest.current.acts.onPress(at),
      onBrush: (sinceMs, untilMs) => latest.current.acts.onBrush(sinceMs, untilMs),
    });
    plot.current = made;
    return () => made.destroy();
  }, [zone, lines, data.of]);
  useEffect(() => plot.current?.update(data), [data]);
  useEffect(() => plot.current?.mark(step), [step]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart's colours depend on the theme
  useEffect(() => plot.current?.redraw(), [theme]);
  return <div ref={host} />;
}
