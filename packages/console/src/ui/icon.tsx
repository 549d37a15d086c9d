/** The lines of each icon, on a grid of 16 by 16 units. */
const paths = {
  alert: "M8 2 1.5 13.5h13L8 2Zm0 4.5v3M8 11.6v.1",
  approval: "M2.5 3h11v7.5h-6l-3 2.7v-2.7h-2zM5.5 6.8h5",
  arrowLeft: "M13 8H3m4-4L3 8l4 4",
  arrowRight: "M3 8h10M9 4l4 4-4 4",
  ask: "M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1v.5M8 11.6v.1M8 14.5a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13Z",
  ban: "M8 14.5a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13ZM3.5 3.5l9 9",
  calls: "M2 5h9M8 2l3 3-3 3M14 11H5M8 8l-3 3 3 3",
  check: "m3 8.5 3.2 3.2L13 4.8",
  chevronDown: "m4 6 4 4 4-4",
  chevronRight: "m6 4 4 4-4 4",
  clock: "M8 14.5a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13ZM8 4.5V8l2.5 1.5",
  contact: "M8 8a3 3 0 1 1 0-6 3 3 0 0 1 0 6ZM2.5 14c.6-2.6 2.8-4 5.5-4s4.9 1.4 5.5 4",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  cross: "m4 4 8 8m0-8-8 8",
  delivery: "M2.5 8h11M9 3.5 13.5 8 9 12.5",
  dot: "M8 9.5a1.5 1.5 0 1 1 0-3 1.5 1.5 0 0 1 0 3Z",
  event: "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8l1-5.5Z",
  external: "M9 2.5h4.5V7M13.5 2.5 8 8M11 9.5v4H2.5V5h4",
  filter: "M2 3h12L9.5 8.5V13l-3-1.5v-3L2 3Z",
  gear: "M8 10a2 2 0 1 1 0-4 2 2 0 0 1 0 4ZM8 1.5v2m0 9v2M1.5 8h2m9 0h2M3.4 3.4l1.4 1.4m6.4 6.4 1.4 1.4m0-9.2-1.4 1.4M4.8 11.2l-1.4 1.4",
  home: "m2 7 6-4.5L14 7v6.5H2zm4.5 6.5v-4h3v4",
  inbox: "M2 9h3.5l1 2h3l1-2H14M2 9l2-6h8l2 6v4.5H2V9Z",
  ingest: "M8 2v8M4.5 6.5 8 10l3.5-3.5M2.5 13.5h11",
  job: "M2.5 3h4v3.5h-4zm7 6.5h4V13h-4zm-3-5h2v6.5h1",
  key: "M10.5 9a3.5 3.5 0 1 1 .1-7 3.5 3.5 0 0 1 0 7ZM8 8l-5.5 5.5m2-2 1.5 1.5",
  live: "M4 12a5.6 5.6 0 0 1 0-8m8 0a5.6 5.6 0 0 1 0 8M8 9.5a1.5 1.5 0 1 1 0-3 1.5 1.5 0 0 1 0 3Z",
  lock: "M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
  menu: "M2 4h12M2 8h12M2 12h12",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7Z",
  more: "M3.5 8h.1m4.4 0h.1m4.4 0h.1",
  pause: "M5 3v10m6-10v10",
  play: "M4 2.5v11l9-5.5-9-5.5Z",
  plug: "M5 2v3.5m6-3.5v3.5M3.5 5.5h9V8a4.5 4.5 0 0 1-9 0V5.5ZM8 12.5v2",
  plus: "M8 3v10M3 8h10",
  project: "M2 4h4.5L8 5.5h6V13H2V4Z",
  replay: "M3 8a5 5 0 1 0 1.6-3.7L3 6m0-3.5V6h3.5",
  schedule: "M2.5 3.5h11v10h-11zM2.5 6.5h11M5 2v3m6-3v3M6 10l1.5 1.5L10.5 9",
  search: "M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9Zm3.5-1 3 3",
  send: "M14 2 7 9M14 2 9.5 14 7 9 2 6.5 14 2Z",
  skill: "m8 1.5 1.8 4 4.2.5-3.1 2.9.8 4.3L8 11l-3.7 2.2.8-4.3L2 6l4.2-.5L8 1.5Z",
  subscription: "M3 13a10 10 0 0 1 10-10M6.5 13A6.5 6.5 0 0 1 13 6.5M10 13a3 3 0 0 1 3-3M3 13h.1",
  sun: "M8 11a3 3 0 1 1 0-6 3 3 0 0 1 0 6ZM8 1.5V3m0 10v1.5M1.5 8H3m10 0h1.5M3.4 3.4l1 1m7.2 7.2 1 1m0-9.2-1 1M4.4 11.6l-1 1",
  tag: "M2 2.5h5.5l6 6-5 5-6.5-6.5V2.5Zm3 3h.1",
  tool: "M10 2.3a3.8 3.8 0 0 0-4 5L2.2 11a1.7 1.7 0 0 0 2.5 2.5L8.5 9.8a3.8 3.8 0 0 0 5-4L11 8 8 5.5l2-3.2Z",
} as const;

/** The name of an icon: a key of `paths`. */
export type IconName = keyof typeof paths;

/**
 * An icon made of lines, as large as the text around it by default. It has no accessible name, because the text next to it or the label of
 * its button gives the meaning.
 */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
