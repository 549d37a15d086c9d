import styles from "../marks/tile.module.css";
import { AppMark } from "../marks/tiles.tsx";

/** Lines of the icons of steps, on a grid of 16 by 16 units. */
const paths = {
  ask: "M2.5 3.5h11v7h-6l-3 2.7v-2.7h-2z",
  branch: "M2 8h3.5m0 0 3-4H14M5.5 8l3 4H14",
  call: "M2 5h9M8 2l3 3-3 3M14 11H5M8 8l-3 3 3 3",
  clock: "M8 14a6 6 0 1 1 0-12 6 6 0 0 1 0 12ZM8 4.8V8l2.2 1.4",
  each: "M3 4.5h10M3 8h10M3 11.5h10",
  fail: "m4 4 8 8m0-8-8 8",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  loop: "M3 8a5 5 0 1 1 1.6 3.7M4.5 9.7V12.5H7.3",
  run: "M3 3.5h4v4H3zM9 8.5h4v4H9zM5 7.5v3h4",
  set: "M2.5 3h11v10h-11zM2.5 6.5h11M7 6.5V13",
  sum: "M12 3.5H4L8.5 8 4 12.5h8",
} as const;

type Glyph = keyof typeof paths;

/** The icon and the colour of each kind of step. */
const kinds: Readonly<Record<string, readonly [glyph: Glyph, tone: "job" | "call" | "ask"]>> = {
  call: ["call", "call"],
  http: ["call", "call"],
  run: ["run", "call"],
  judge: ["ask", "ask"],
  wait: ["clock", "ask"],
  if: ["branch", "job"],
  parallel: ["branch", "job"],
  until: ["loop", "job"],
  map: ["each", "job"],
  filter: ["filter", "job"],
  limit: ["filter", "job"],
  take: ["filter", "job"],
  distinct: ["filter", "job"],
  reduce: ["sum", "job"],
  compute: ["sum", "job"],
  fail: ["fail", "job"],
};

/**
 * A tile with the mark of the app that a step calls (`tool`: slug of its tool, or empty), or else with the icon of the step's kind. It has
 * no accessible name, because a text next to it says what the step does.
 */
export function StepTile({ kind, tool = "" }: { kind: string; tool?: string }) {
  if (tool !== "") return <AppMark slug={tool} size="small" />;
  const [glyph, tone] = (Object.hasOwn(kinds, kind) ? kinds[kind] : undefined) ?? (["set", "job"] as const);
  return (
    <span className={`${styles["tile"]} ${styles[tone]}`} aria-hidden="true">
      <svg
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth={1.5}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        focusable="false"
      >
        <path d={paths[glyph]} />
      </svg>
    </span>
  );
}
