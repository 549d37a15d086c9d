import styles from "./attempt-bars.module.css";

const height = 64;
const gap = 2;
const barWidth = 10;

/** The number of attempts in one part of a span. */
type Bar = { readonly succeeded: number; readonly failed: number };

/**
 * Draws the numbers of delivery attempts over a time range as bars: failed attempts above those that succeeded. A screen reader gets a
 * sentence.
 */
export function AttemptBars({ bars }: { bars: readonly Bar[] }) {
  const most = Math.max(1, ...bars.map(({ succeeded, failed }) => succeeded + failed));
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count * (height - 2)) / most));
  const width = bars.length * (barWidth + gap);
  return (
    <svg
      className={styles["bars"]}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={sentenceOf(bars)}
    >
      {bars.map(({ succeeded, failed }, index) => {
        const [good, bad] = [heightOf(succeeded), heightOf(failed)];
        const x = index * (barWidth + gap);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the index of a bar is its position in the span
          <g key={index}>
            <rect className={styles["track"]} x={x} y={height - 1} width={barWidth} height={1} />
            {good > 0 && <rect className={styles["ok"]} x={x} y={height - good} width={barWidth} height={good} />}
            {bad > 0 && <rect className={styles["bad"]} x={x} y={height - good - bad} width={barWidth} height={bad} />}
          </g>
        );
      })}
    </svg>
  );
}

function sentenceOf(bars: readonly Bar[]): string {
  const [good, bad] = bars.reduce(([a, b], { succeeded, failed }) => [a + succeeded, b + failed], [0, 0]);
  return `${good.toLocaleString("en")} attempts succeeded and ${bad.toLocaleString("en")} failed`;
}
