import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Series, StatsService } from "@svc/gen/stats";
import { keepPreviousData } from "@tanstack/react-query";
import { useNow } from "../../clock.ts";
import styles from "./activity.module.css";
import { ListLink } from "./list-link.tsx";
import { type Tile, tileHours, tilesOf } from "./tiles.ts";

const hourMs = 3_600_000;
/** Interval in milliseconds at which the tiles are read again. Nodes save their counts every ten seconds. */
const lookMs = 10_000;

/** Reads the tiles (the large numbers) of the Home page. The tiles are undefined until the service has answered. */
export function useTiles() {
  const now = useNow(60_000);
  // The end of the last hour, so that the request stays the same for an hour.
  const untilMs = (Math.floor(now / hourMs) + 1) * hourMs;
  const since = timestampFromMs(untilMs - 2 * tileHours * hourMs);
  return useQuery(
    StatsService.method.querySeries,
    {
      ...{ since, until: timestampFromMs(untilMs), stepSeconds: hourMs / 1_000 },
      series: [Series.EVENTS, Series.DELIVERIES, Series.CALLS, Series.JOBS],
    },
    { refetchInterval: lookMs, placeholderData: keepPreviousData, select: tilesOf },
  );
}

/** Draws the tiles of the Home page: large numbers that show what the project did in the last 24 hours. */
export function Tiles({ tiles, projectId }: { tiles: readonly Tile[]; projectId: string }) {
  return (
    <ul className={styles["tiles"]} aria-label="Last 24 hours">
      {tiles.map((tile) => (
        <li key={tile.title}>
          <ListLink list={tile.list} projectId={projectId} className={styles["tile"] ?? ""}>
            <span className={styles["tileTitle"]}>{tile.title}, 24 h</span>
            <b className={styles["number"]}>{tile.value}</b>
            <span className={styles["change"]}>{changeWords(tile.change)}</span>
            <Sparkline hours={tile.hours} />
          </ListLink>
        </li>
      ))}
    </ul>
  );
}

/** Returns the change of a tile as a phrase. A change that cannot be compared keeps its line empty, so that nothing moves later. */
function changeWords(change: string): string {
  if (change === "") return "\u00a0";
  return change === "as yesterday" ? change : `${change} since yesterday`;
}

const [width, height] = [96, 24];

/** Draws the counts of the last hours as a line. It is decoration: screen readers skip it. */
function Sparkline({ hours }: { hours: readonly number[] }) {
  const most = Math.max(1, ...hours);
  const points = hours.map((count, hour) => {
    const x = (hour * width) / Math.max(1, hours.length - 1);
    return `${x.toFixed(1)},${(height - 1 - (count * (height - 2)) / most).toFixed(1)}`;
  });
  return (
    <svg className={styles["spark"]} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden>
      <polyline points={points.join(" ")} />
    </svg>
  );
}
